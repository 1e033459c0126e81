"""Reading configurations by cycles: those that have any come first, by an index that has no others."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import db
from db import RunSpec, Store
from db.columns import BY_NAME
from db.reading import _query

MakeSpec = Callable[..., RunSpec]


@pytest.mark.parametrize("limit", [None, 0, 1, 5, 6, 7, 11, 12, 50])
@pytest.mark.parametrize("verdict", [None, 0, 1])
def test_any_number_of_them_is_the_beginning_of_the_whole_order(
    store: Store, spec: MakeSpec, limit: int | None, verdict: int | None
) -> None:
    run = store.create_run(spec())
    cycles = np.array([9, 0, 7, 0, 7, 1, 0, 3, 0, 0, 2, 0])
    timed = cycles > 0
    verdicts = np.array([0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0])
    store.add_configurations(run.id, {"verdict": verdicts, "cycles": cycles}, 0, {"cycles": timed})
    wanted = sorted(
        (row for row in range(12) if verdict in (None, verdicts[row])),
        key=lambda row: (not timed[row], cycles[row], row),
    )
    got = store.configurations(run.id, ["row", "cycles"], where_verdict=verdict, order_by_cycles=True, limit=limit)
    assert got["row"].tolist() == wanted[:limit]
    assert got["cycles"].mask.tolist() == [not timed[row] for row in wanted[:limit]]  # type: ignore[attr-defined]


def test_the_fastest_are_read_from_the_index(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    db.open_store(f"sqlite:///{path}").close()
    query, values = _query([BY_NAME["row"]], 1, 0, True, 10)
    with closing(sqlite3.connect(path)) as connection:
        (plan, *rest) = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", values)]
    assert "ix_configuration_run_id_verdict_cycles (run_id=? AND verdict=? AND cycles>?)" in plan
    assert rest == []
