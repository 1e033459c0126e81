"""Where a program runs: expressions over the blocks that differ, over the ranks and over both sub-cores, as grids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pto_tune.legality.rules import column, grid
from pto_tune.model.expr import Expr, evaluate, expr, names_in
from pto_tune.model.nodes import Loop, While

if TYPE_CHECKING:
    from pto_tune.legality.rules import Bools, Ints
    from pto_tune.model.communication import Remote
    from pto_tune.model.nodes import Call, Instr, Node, Workload

MOST_RANKS = 64
"""Most ranks that are modelled; more are refused."""
_MOST_BLOCKS = 128
"""With ranks, blocks beyond these are not looked at: no platform has room for them, so that they are refused."""

MOST_VARYING = 2**18
"""Most blocks of a configuration whose blocks differ."""
MOST_GRID = 2**26
"""Most blocks, each counted for every configuration, that are looked at in one call."""


class PlacesError(ValueError):
    """More blocks than can be looked at."""


class Places:
    """Blocks and ranks that can differ, as rows of a grid; everything else is evaluated once.

    Without ranks, blocks differ where the launch says so. With ranks every block may use its number, and `names` says
    which of `block` and `rank` matter to who asks; the other one is 0.
    """

    def __init__(
        self, workload: Workload, env: Mapping[str, Any], n: int, names: Collection[str] = ("block", "rank")
    ) -> None:
        import numpy as np

        self.n = n
        self._open = workload.has_ranks
        blocks, ranks = _extents(workload, env, n, names)
        most_blocks, most_ranks = int(blocks.max(initial=1)), int(ranks.max(initial=1))
        places = np.arange(most_blocks * most_ranks, dtype=np.int64)[:, np.newaxis]
        numbers = {"block": places % most_blocks, "rank": places // most_blocks}
        self.exists: Bools = (numbers["block"] < blocks) & (numbers["rank"] < ranks)
        self._varying = {what for what, most in (("block", most_blocks), ("rank", most_ranks)) if most > 1}
        one = {**env, **({"rank": np.int64(0)} if workload.has_ranks else {})}
        self._envs = [{**one, "sub": np.int64(k)} for k in (0, 1)]
        self._grids: list[dict[str, Any]] = []
        if self._varying:
            whole: dict[str, Any] = {**one, **{what: numbers[what] for what in self._varying}}
            for name, e in workload.derived:
                if self.varies(e):
                    self._varying.add(name)
                    whole[name] = evaluate(e, whole)
            self._grids = [{**whole, "sub": np.int64(k)} for k in (0, 1)]

    def varies(self, e: Expr) -> bool:
        """Whether the value differs from place to place."""
        return bool(self._varying) and not self._varying.isdisjoint(names_in(e))

    def known(self, e: Expr) -> bool:
        """Whether the value is decided before the program runs: with ranks it may have variables, which are not."""
        return not self._open or all(name in self._envs[0] for name in names_in(e))

    def value(self, e: Expr, sub: int) -> Ints:
        """The expression on a sub-core, as a grid (places or 1, n)."""
        return grid(evaluate(e, (self._grids if self.varies(e) else self._envs)[sub]), self.n)

    def always(self) -> Bools:
        """Every place: one row."""
        import numpy as np

        return np.ones((1, self.n), dtype=bool)

    def runs(self, active: Bools, gates: Iterable[Expr], sub: int) -> Bools:
        """Where all gates are above 0, of `active` places. A gate that is not known may be."""
        for gate in gates:
            if self.known(gate):
                active = active & (self.value(gate, sub) > 0)
                if self.varies(gate):
                    active = active & self.exists
        return active


def places_needed(workload: Workload, env: Mapping[str, Any], n: int, names: Collection[str]) -> int:
    """Rows of the grids of `Places`."""
    blocks, ranks = _extents(workload, env, n, names)
    return int(blocks.max(initial=1)) * int(ranks.max(initial=1))


def _extents(workload: Workload, env: Mapping[str, Any], n: int, names: Collection[str]) -> tuple[Ints, Ints]:
    """Blocks and ranks (n each) as far as they may differ."""
    import numpy as np

    blocks = ranks = np.ones(n, dtype=np.int64)
    if workload.has_ranks:
        if "block" in names:
            blocks = np.clip(column(evaluate(workload.launch.blocks, env), n), 1, _MOST_BLOCKS)
        if "rank" in names:
            ranks = np.clip(column(evaluate(workload.ranks, env), n), 1, MOST_RANKS)
    else:
        varying = column(evaluate(workload.launch.varying, env), n) != 0
        blocks = np.where(varying, np.maximum(column(evaluate(workload.launch.blocks, env), n), 1), 1)
        most = int(blocks.max(initial=1))
        if most > MOST_VARYING:
            raise PlacesError(f"{most} blocks that differ from each other: expected at most {MOST_VARYING}")
        if most > 1 and most * n > MOST_GRID:
            raise PlacesError(
                f"{n} configurations of up to {most} blocks that differ from each other: expected at most "
                f"{MOST_GRID} blocks in all, evaluate fewer at once"
            )
    return blocks, ranks


def gates_of(node: Loop | While) -> tuple[Expr, ...]:
    """Expressions that are all above 0 where the body may run. A condition without variables never changes."""
    return (node.trips,) if isinstance(node, Loop) else (node.most, node.condition.ne(expr(0)))


def gated(
    nodes: tuple[Node, ...], gates: tuple[Expr, ...] = ()
) -> Iterator[tuple[Instr | Call | Remote, tuple[Expr, ...]]]:
    """Instructions and calls of a program as written, each with the gates of the loops around it."""
    for node in nodes:
        if isinstance(node, Loop | While):
            yield from gated(node.body, (*gates, *gates_of(node)))
        else:
            yield node, gates


def names_of(workload: Workload, expressions: Iterable[Expr]) -> set[str]:
    """Names that expressions use, also through derived ones."""
    found = {name for e in expressions for name in names_in(e)}
    for name, e in reversed(workload.derived):
        if name in found:
            found.update(names_in(e))
    return found
