"""A view of a run that passed over refused configurations: rows are numbers in the run, not in the space."""

from pathlib import Path

import numpy as np
import pytest

from dashboards import runview
from dashboards.runview import from_store
from db import open_store
from pto_tune.search import strategies
from pto_tune.tuning import tune


def test_tunables_are_read_and_not_worked_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "EXHAUSTIVE_LIMIT", 100)
    # the first rows look as if the space were gone through in order
    monkeypatch.setattr(runview, "_COMPARED", 1)
    url = f"sqlite:///{tmp_path / 'a.db'}"
    domains: dict[str, list[int | str]] = {"cube_s0": [128, 256], "cube_s1": [128, 256], "tile_s1": [128, 256],
                                           "qk_preload": [1, 2, 4], "sync_period": [0]}  # fmt: skip
    sizes: dict[str, int | str] = {"s0": 512, "s1": 512}
    result = tune("flash_attention", problem=sizes, domains=domains, strategy="exhaustive", store=url)
    assert result.n_candidates < result.space.size
    assert result.best is not None
    with open_store(url) as store:
        view = from_store(store, "latest")
    for best in result.top:
        at = int(np.flatnonzero(view.rows == best["row"])[0])
        shown = {name: values[at] for name, values in view.values.items()}
        assert shown == {name: best["configuration"][name] for name in shown}
