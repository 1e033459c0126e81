"""The smallest workloads that have a pipe, and what the static rules say of them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cost_models import load_platform
from pto_tune import legality
from pto_tune.legality.rules import RuleColumn
from pto_tune.legality.warnings import warnings
from pto_tune.lowering.columns import environment
from pto_tune.model.expr import expr
from pto_tune.model.nodes import Fifo, Launch, Node, Parameter, Tile, Workload
from pto_tune.model.vocabulary import loop, tpop, tpush
from pto_tune.rule_sets import rule_set_for

PLATFORMS = {"a2a3": "ascend910b2", "a5": "ascend950pr"}


def _fifo(name: str = "f", direction: str = "C2V", **changes: Any) -> Fifo:
    """A legal pipe; integers stand for expressions."""
    plain = Fifo(name, direction, expr(16384), expr(4), expr(0), expr(2), expr(0), 0, expr(32))
    expressions = {k for k, v in vars(plain).items() if not isinstance(v, str | bool | int)}
    return replace(plain, **{k: expr(v) if k in expressions and v is not None else v for k, v in changes.items()})


def _kernel(aic: tuple[Node, ...], aiv: tuple[Node, ...], *fifos: Fifo, **changes: Any) -> Workload:
    """Programs that run their nodes four times."""
    plain = Workload(
        name="kernel",
        doc="",
        problem=tuple(Parameter(n, v, "", -(2**31)) for n, v in changes.pop("values", {}).items()),
        tunables=(),
        buffers=(),
        fifos=fifos,
        programs=(("AIC", (loop(4, *aic),)), ("AIV", (loop(4, *aiv),))),
        launch=Launch(expr(1)),
    )
    return replace(plain, **changes)


def _tiles(pushed: Tile, popped: Tile, direction: str = "C2V", **changes: Any) -> Workload:
    """A pipe that tiles are pushed to and popped from."""
    call = {k: changes.pop(k) for k in ("config", "simplified") if k in changes}
    push, pop = tpush("f", pushed, **call), tpop("f", popped)
    aic, aiv = ((push,), (pop,)) if "C2V" in direction else ((pop,), (push,))
    return _kernel(aic, aiv, _fifo("f", direction, **changes))


def _columns(
    workload: Workload, family: str, rows: dict[str, list[int]], rules: Callable[..., list[RuleColumn]]
) -> tuple[list[RuleColumn], int]:
    n = max((len(v) for v in rows.values()), default=1)
    table: dict[str, Any] = {p.name: np.full(n, p.default, dtype=np.int64) for p in workload.problem}
    table |= {k: np.array(v, dtype=np.int64) for k, v in rows.items()}
    env = environment(workload, {**table, "block": np.zeros(n, dtype=np.int64)})
    return rules(workload, load_platform(PLATFORMS[family]), rule_set_for(family), env, n), n


@pytest.fixture
def fifo() -> Callable[..., Fifo]:
    return _fifo


@pytest.fixture
def kernel() -> Callable[..., Workload]:
    return _kernel


@pytest.fixture
def tiles() -> Callable[..., Workload]:
    return _tiles


@pytest.fixture
def broken() -> Callable[..., dict[str, str]]:
    """The rules that a configuration breaks (the last row of the table), with their sentences."""

    def of(workload: Workload, family: str = "a2a3", verdict: str = "refused", **rows: list[int]) -> dict[str, str]:
        columns, n = _columns(workload, family, rows, legality.check)
        assert [r.name for r in columns] == legality.rule_names(
            workload, load_platform(PLATFORMS[family]), rule_set_for(family)
        )
        found = {r.name: r.sentence(n - 1) for r in columns if r.broken[n - 1] and r.verdict == verdict}
        assert not any("\n" in text for text in found.values())
        return found

    return of


@pytest.fixture
def rows_broken() -> Callable[..., list[bool]]:
    """Where a rule is broken, row by row."""

    def of(workload: Workload, rule: str, family: str = "a2a3", **rows: list[int]) -> list[bool]:
        columns, _ = _columns(workload, family, rows, legality.check)
        return list(next(r for r in columns if r.name == rule).broken.tolist())

    return of


@pytest.fixture
def all_columns() -> Callable[..., dict[str, RuleColumn]]:
    """Every rule of a workload over a table."""

    def of(workload: Workload, family: str = "a2a3", **rows: list[int]) -> dict[str, RuleColumn]:
        return {r.name: r for r in _columns(workload, family, rows, legality.check)[0]}

    return of


@pytest.fixture
def warned() -> Callable[..., dict[str, str]]:
    """The warnings of a workload on a family, with their sentences."""

    def of(workload: Workload, family: str = "a2a3", **rows: list[int]) -> dict[str, str]:
        columns, n = _columns(workload, family, rows, warnings)
        assert all(r.verdict == "ok" for r in columns)
        return {r.name: r.sentence(n - 1) for r in columns if r.broken[n - 1]}

    return of
