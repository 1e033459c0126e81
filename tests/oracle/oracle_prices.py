"""Names and prices of one core: what expressions, durations and transfers come to in one configuration."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cost_models import dma, fixpipe
from cost_models.platform import Platform
from cost_models.rounding import to_cycles
from cost_models.sharing import RESOURCES
from pto_tune.lowering.costs import cost_bytes, cost_cycles
from pto_tune.model.expr import Expr, evaluate
from pto_tune.model.nodes import Cost, Instr, Loop, Node, While, Workload

Names = Mapping[str, int]

ACC_BYTES_PER_ELEMENT = 4
"""The accumulator that a drain empties holds float or int32."""


def names(
    workload: Workload, config: Mapping[str, int], block: int = 0, sub: int = 0, rank: int | None = None
) -> dict[str, int]:
    """Value of every name: parameters (defaults where `config` has none), `block`, `sub`, `rank`
    (where there are ranks) and what is derived.

    Raises ValueError for a name in `config` that the workload does not have.
    """
    env = {p.name: p.default for p in workload.problem} | {t.name: t.default for t in workload.tunables}
    unknown = sorted(set(config) - set(env))
    if unknown:
        raise ValueError(f"workload {workload.name!r} has no {', '.join(unknown)}; it has {', '.join(env)}")
    env.update({key: int(value) for key, value in config.items()})
    env["block"], env["sub"] = block, sub
    if rank is not None:
        env["rank"] = rank
    for name, expression in workload.derived:
        env[name] = number(expression, env)
    return env


def number(expression: Expr, env: Names) -> int:
    return int(evaluate(expression, env))


def instructions(nodes: Sequence[Node]) -> Iterator[Instr]:
    """Every instruction of a program as written, loop bodies once."""
    for node in nodes:
        if isinstance(node, Loop | While):
            yield from instructions(node.body)
        elif isinstance(node, Instr):
            yield node


@dataclass(frozen=True)
class Price:
    """What one execution costs: cycles on its pipe, cycles until its data is visible, bytes by resource."""

    duration: int
    latency: int
    moved_bytes: Mapping[str, int]


class Prices:
    """Prices of the instructions of one core.

    Instructions that move bytes of the resource `stretched` take `stretch` times as long, rounded up.
    """

    def __init__(
        self,
        platform: Platform,
        program: Sequence[Node],
        env: Names,
        stretch: float = 1.0,
        stretched: str | None = None,
    ) -> None:
        if stretched is not None and stretched not in RESOURCES:
            raise ValueError(f"unknown shared resource {stretched!r}; choose one of {', '.join(RESOURCES)}")
        self._platform = platform
        self._env = env
        self._stretch = stretch
        self._stretched = stretched
        self._labelled: dict[str, list[Instr]] = {}
        for instr in instructions(program):
            if instr.label:
                self._labelled.setdefault(instr.label, []).append(instr)
        # By identity, because hashing an instruction means walking all its expressions; kept, so that it stays its own.
        self._known: dict[int, tuple[Instr, Price]] = {}

    def of(self, instr: Instr) -> Price:
        if id(instr) not in self._known:
            self._known[id(instr)] = (instr, self._price(instr))
        return self._known[id(instr)][1]

    def overlap(self, pair: tuple[str, str]) -> int:
        """Cycles by which a token with this unit flag leaves before the end of the instruction.

        From the durations as they are without stretching. Raises ValueError if no instruction has the label,
        several different ones have it, or neither of the pair is a drain.
        """
        first, second = (self._labelled_instr(label) for label in pair)
        drains = [cost for instr in (second, first) for cost in instr.costs if cost.model == "drain"]
        if not drains:
            raise ValueError(f"unit flag {pair}: neither has a drain; label a drain and its matmul")
        size = dict(drains[0].args)
        rows, cols = (self._argument(size[key]) for key in ("rows", "cols"))
        overlap = fixpipe.unit_flag_overlap(
            self._platform,
            self._plain_duration(first),
            self._plain_duration(second),
            ACC_BYTES_PER_ELEMENT * rows * cols,
        )
        return int(np.floor(overlap))

    def _price(self, instr: Instr) -> Price:
        moved_bytes = dict.fromkeys(RESOURCES, 0)
        latency = 0
        for cost in instr.costs:
            for resource, moved in zip(RESOURCES, cost_bytes(self._platform, cost, self._env), strict=True):
                moved_bytes[resource] += int(moved)
            if cost.model in ("dma", "drain", "drain_ub"):
                latency = self._latency(cost)
        duration = self._plain_duration(instr)
        if self._stretched is not None and moved_bytes[self._stretched] > 0:
            duration = int(np.ceil(duration * self._stretch))
        return Price(duration, latency, moved_bytes)

    def _plain_duration(self, instr: Instr) -> int:
        return int(to_cycles(sum(float(cost_cycles(self._platform, cost, self._env)) for cost in instr.costs)))

    def _latency(self, cost: Cost) -> int:
        if cost.model in ("drain", "drain_ub"):
            target = "gm" if cost.model == "drain" else "ub"
            return int(to_cycles(fixpipe.latency_cycles(self._platform, target)))
        return int(to_cycles(dma.latency_cycles(self._platform, str(dict(cost.args)["path"]))))

    def _argument(self, value: Expr | str) -> int:
        if isinstance(value, str):
            raise ValueError(f"the size of a drain is {value!r}; give an expression")
        return number(value, self._env)

    def _labelled_instr(self, label: str) -> Instr:
        found = self._labelled.get(label, [])
        if not found:
            raise ValueError(f"unit flag: no instruction of this core has the label {label!r}")
        if any(instr.costs != found[0].costs for instr in found):
            raise ValueError(f"unit flag: instructions with different costs share the label {label!r}")
        return found[0]
