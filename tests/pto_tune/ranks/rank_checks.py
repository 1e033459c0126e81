"""Comparing the time-ordered engine with the oracle: everything that both say of a run, in the same words."""

from collections.abc import Mapping
from typing import Any

from oracle_ranks import simulate_ranks

from cost_models import Platform
from pto_tune.lowering.code import Code
from pto_tune.lowering.ranks import lower_ranks
from pto_tune.model.nodes import Workload
from pto_tune.ranks import tables as t
from pto_tune.ranks.engine import RankRun, run_row
from pto_tune.rule_sets import RuleSet

MOST_INSTRUCTIONS = 2**17
STATUS = {t.DONE: "ok", t.HANG: "hang", t.FAULT: "fault"}

Answer = dict[str, Any]
"""`status`, and unless it is a fault: cycles, busy cycles and waits that are not 0, signals at the end, starts and ends
of instructions by pipe, and on a hang what of each core does not go on."""


def engine(workload: Workload, platform: Platform, rules: RuleSet, config: Mapping[str, int]) -> Answer:
    code = lower_ranks(workload, rules)
    run = run_row(code, platform, config, events=MOST_INSTRUCTIONS)
    if run.status == t.FAULT:
        return {"status": "fault"}
    cores, pipes = len(code.cores), len(code.pipes)
    spans: dict[Any, list[tuple[int, int]]] = {}
    for pipe, _, start, end, *_ in run.events.tolist():
        spans.setdefault((*_place(run, pipe // pipes), code.pipes[pipe % pipes]), []).append((start, end))
    return {
        "status": STATUS[run.status],
        "cycles": run.cycles if run.status == t.DONE else None,
        "busy": _named(run, run.busy, code.pipes),
        "waits": _named(run, run.waits, code.wait_names),
        "signals": {
            signal.name: run.memory[:, run.signal_at[i] : run.signal_at[i + 1]].tolist()
            for i, signal in enumerate(workload.signals)
        },
        "spans": spans,
        "blocked": {
            (*_place(run, i), code.cores[c]): _blocked(code, run, i, c)
            for i in range(run.ranks * run.blocks)
            for c in range(cores)
            if run.blocked[i, c, 0] != t.B_NOTHING
        },
    }


def _place(run: RankRun, instance: int) -> tuple[int, int]:
    return divmod(instance, run.blocks)


def _named(run: RankRun, table: Any, names: tuple[str, ...]) -> dict[Any, int]:
    return {
        (*_place(run, i), name): int(n) for i, row in enumerate(table) for name, n in zip(names, row, strict=True) if n
    }


def _blocked(code: Code, run: RankRun, instance: int, core: int) -> list[str]:
    """What of a core does not go on: S, and pipes with something in their queues."""
    scalar = [] if run.blocked[instance, core, 0] == t.B_PIPES else ["S"]
    return scalar + [
        name for p, name in enumerate(code.pipes) if code.pipe_core[p] == core and run.pipe_blocked[instance, p] >= 0
    ]


def oracle(workload: Workload, platform: Platform, rules: RuleSet, config: Mapping[str, int]) -> Answer:
    result = simulate_ranks(workload, platform, rules, config, with_events=True)
    if result.status == "fault":
        return {"status": "fault"}
    spans: dict[Any, list[tuple[int, int]]] = {}
    for rank, block, pipe, _, start, end in result.events:
        spans.setdefault((rank, block, pipe), []).append((start, end))
    return {
        "status": result.status,
        "cycles": result.cycles,
        "busy": {key: n for key, n in result.busy.items() if n},
        "waits": dict(result.waits),
        "signals": {name: [list(of_rank) for of_rank in values] for name, values in result.signals.items()},
        "spans": spans,
        "blocked": {
            where: [part.partition(" waits for ")[0] for part in reason.split("; ")]
            for where, reason in result.blocked.items()
        },
    }


def differences(found: Answer, expected: Answer) -> list[str]:
    """A line for everything in which the engine's answer is not the oracle's."""
    return [line for key in expected for line in _unlike(key, found.get(key), expected[key])]


def _unlike(key: str, found: Any, expected: Any) -> list[str]:
    if found == expected:
        return []
    if not isinstance(expected, dict) or not isinstance(found, dict):
        return [f"{key}: engine {found}, oracle {expected}"]
    return [
        f"{key} {k}: engine {found.get(k)}, oracle {expected.get(k)}"
        for k in sorted({*found, *expected}, key=str)
        if found.get(k) != expected.get(k)
    ]
