"""Importances: exact shares from tables whose answer is known, PED-ANOVA from samples."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dashboards.figures.importance import ANOVA, PED_ANOVA, anova, importance_data, importance_figure
from dashboards.runview import RunView

MakeView = Callable[..., RunView]


def full(*sizes: int) -> list[np.ndarray]:
    return [axis.reshape(-1) for axis in np.indices(sizes)]


def test_in_a_balanced_table_the_shares_are_those_of_the_functional_anova() -> None:
    a, b, c = full(2, 2, 3)
    # y = 3 a' + 1 b' + 2 a' b' with a', b' = +-1: variances 9, 1 and 4
    y = (3 * (2 * a - 1) + (2 * b - 1) + 2 * (2 * a - 1) * (2 * b - 1)).astype(float)
    main, pairs, left_out = anova([a, b, c], y)
    assert main == pytest.approx([9 / 14, 1 / 14, 0])
    assert pairs[0, 1] == pytest.approx(4 / 14)
    assert pairs[0, 2] == pytest.approx(0, abs=1e-12)
    assert pairs[1, 2] == pytest.approx(0, abs=1e-12)
    assert sum(main) + sum(pairs.values()) == pytest.approx(1)
    assert left_out == 0


def test_an_additive_time_has_no_interaction_however_unbalanced_the_table() -> None:
    random = np.random.default_rng(3)
    a, b = full(4, 5)
    kept = random.random(20) < 0.6
    a, b = np.repeat(a[kept], 3), np.repeat(b[kept], 3)
    y = 1.5 * a - 0.25 * b**2
    _, pairs, _ = anova([a, b], y)
    assert pairs[0, 1] == pytest.approx(0, abs=1e-10)


def test_a_tunable_that_alone_decides_has_everything_where_the_table_is_unbalanced_too() -> None:
    a, b = np.array([0, 0, 1, 1, 1]), np.array([0, 0, 0, 1, 1])
    main, _, _ = anova([a, b], a.astype(float))
    assert main[0] == pytest.approx(1)
    assert 0 < main[1] < 1


def test_shares_are_of_log_time_over_ok_configurations(make_view: MakeView) -> None:
    nan = np.nan
    view = make_view(
        tunables=[("fifo_depth", (2, 4)), ("sync_period", (1, 2, 4))],
        values={"fifo_depth": np.array([2, 2, 2, 4, 4, 4]), "sync_period": np.array([1, 2, 4, 1, 2, 4])},
        verdict=np.array([0, 0, 0, 0, 0, 1]),
        cycles=np.array([8000.0, 8000, 8000, 18000, 18000, nan]),
    )
    data = importance_data(view, sampled=False)
    assert data.method == ANOVA
    assert data.configurations == 5
    assert next((s.names, round(s.share, 9)) for s in data.main) == (("fifo_depth",), 1)
    assert "Exact, from the 5 ok configurations" in data.explained
    figure = importance_figure(data)
    assert figure.layout.xaxis.title.text == "Share of variance of log time (%)"


def test_a_sample_is_looked_at_with_ped_anova_and_says_so(big_view: RunView) -> None:
    depth = big_view.values["fifo_depth"]
    changed = {**big_view.__dict__, "cycles": depth * 100_000.0 + np.arange(len(big_view)) % 7}
    fields = {name: changed[name] for name in RunView.__dataclass_fields__}
    data = importance_data(RunView(**fields), sampled=True)
    assert data.method == PED_ANOVA
    assert data.main[0].names == ("fifo_depth",)
    assert data.main[0].share > 0.9
    assert sum(s.share for s in data.main) == pytest.approx(1)
    assert data.pairs == ()
    assert "PED-ANOVA over 4,000" in data.explained
    assert importance_figure(data).layout.xaxis.title.text == "Importance (%)"


def test_too_few_or_equal_times_say_why_there_is_nothing(make_view: MakeView) -> None:
    assert "too few" in importance_data(make_view(), False).why_not
    assert "No ok" in importance_data(make_view(verdict=np.full(6, 1)), False).why_not
    same = make_view(verdict=np.zeros(6, dtype=int), cycles=np.full(6, 5.0))
    assert "same time" in importance_data(same, False).why_not
    fixed = make_view(tunables=[("split", ("UP_DOWN",))])
    assert "varies no tunable" in importance_data(fixed, True).why_not
    text = importance_figure(importance_data(same, False)).layout.annotations[0].text
    assert "same time" in text.replace("<br>", " ")
