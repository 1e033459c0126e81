"""The benchmark of search strategies: how soon each comes within 1 % of the optimum, on problems of published sizes.

Every legal configuration of a problem is evaluated once: that gives the optimum, and the rate of the executor on this
machine. Strategies then search as `tune` does, with their answers taken from what is known. So evaluations are counted
exactly, up to the first configuration that is good enough. Seconds are what the strategy itself takes (making bounds
included) plus what its batches would take, the last one to its end: a fixed time for every batch, and the time of a
configuration at the rate of the whole sweep. Finding out what is legal is the same for all strategies and stands alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.search.batches import Batch
    from pto_tune.search.proposers import Seen
    from pto_tune.space import Space

Ints = NDArray[np.int64]

WITHIN = 0.01
"""Good enough: a time of at most so much more than the optimum's, launch overhead excluded."""

STRATEGIES = ("bounds", "evolution", "tpe", "nsga2", "qmc", "random")

CAPPED = {"tpe": 500, "nsga2": 2_000}
"""Most evaluations of strategies whose own time grows faster than their evaluations."""

LONGEST_S = 20.0
"""Most seconds of one search."""

_CALLS = 9


@dataclass(frozen=True)
class Case:
    """A problem: sizes that somebody has published times of, and domains wide enough to get lost in."""

    name: str
    workload: str
    platform: str
    sizes: Mapping[str, int | str]
    domains: Mapping[str, Sequence[int | str]]
    source: str


def _to(last: int, step: int = 1, first: int | None = None) -> list[int | str]:
    return list(range(step if first is None else first, last + 1, step))


CASES = (
    Case(
        "flash_attention 4096", "flash_attention", "ascend910b2", {"s0": 4096, "s1": 4096},
        {"qk_preload": _to(8), "fifo_depth": _to(16), "sync_period": [0, 1, 2, 4, 8]},
        "pto-isa kernels/manual/common/flash_atten",
    ),
    Case(
        "flash_attention 16384", "flash_attention", "ascend910b2", {"s0": 16384, "s1": 16384},
        {"cube_s0": [64, 128, 256], "cube_s1": [64, 128, 256], "qk_preload": _to(8), "fifo_depth": _to(12),
         "pv_fifo_depth": _to(12, first=0)},
        "pto-isa kernels/manual/common/flash_atten",
    ),
    Case(
        "gemm 6144", "gemm", "ascend910b1", {"m": 6144, "k": 6144, "n": 6144},
        {"base_m": _to(256, 16), "base_k": _to(256, 16), "base_n": _to(256, 16), "step_k": [1, 2, 3, 4, 6, 8]},
        "pto-isa kernels/manual/a2a3/gemm_performance",
    ),
    Case(
        "gemm mxfp8 6144", "gemm", "ascend950pr",
        {"m": 6144, "k": 6144, "n": 6144, "dtype": "mxfp8", "out_type": "fp16"},
        {"base_m": _to(256, 16), "base_k": _to(512, 64), "base_n": _to(256, 16), "step_k": [1, 2, 3, 4, 6, 8],
         "grid_m": [1, 2, 3, 4, 6, 8, 16, 32], "grid_n": [1, 2, 3, 4, 6, 8, 16, 32]},
        "pto-isa kernels/manual/a5/matmul_mxfp8_performance",
    ),
    Case(
        "paged_attention 64 x 2048", "paged_attention", "ascend910b2",
        {"batch": 64, "heads": 32, "kv_heads": 8, "context": 2048, "page": 128},
        {"preload": _to(8), "fifo_depth": _to(16), "sync_period": [0, 1, 2, 4, 8]},
        "huawei-csl/pto-kernels",
    ),
    Case(
        "flash_attention_950 32768", "flash_attention_950", "ascend950pr", {"s0": 32768, "s1": 32768},
        {"fifo_depth": [1, 2, 3, 4, 6, 8], "pv_fifo_depth": _to(4), "sync_period": [0, 1, 2],
         "preload": [0, 1, 2, 3, 4, 6]},
        "flash attention ladder of dav-3510",
    ),
)  # fmt: skip


def cases_named(words: Sequence[str]) -> tuple[Case, ...]:
    """The problems with one of the words in their name; all for no words. ValueError where a word is in no name."""
    unknown = [word for word in words if not any(word in case.name for case in CASES)]
    if unknown:
        raise ValueError(
            f"no problem is named {', '.join(map(repr, unknown))}: there are {', '.join(c.name for c in CASES)}"
        )
    return tuple(case for case in CASES if not words or any(word in case.name for word in words))


def search(
    seeds: int = 20,
    strategies: Sequence[str] = STRATEGIES,
    cases: Sequence[Case] = CASES,
    progress: Callable[[str], object] | None = None,
) -> list[dict[str, Any]]:
    """A dictionary a problem: name, legal, good (legal configurations within 1 %), share, rate, and by strategy the
    median evaluations and seconds to the first good one over `seeds` seeds (None where less than half of them reach
    one), how many reach one, and of "bounds" the median evaluations and seconds to the proof."""
    unknown = [name for name in strategies if name not in STRATEGIES]
    if unknown:
        raise ValueError(f"unknown strategy {', '.join(map(repr, unknown))}: choose from {', '.join(STRATEGIES)}")
    out = []
    for case in cases:
        if progress is not None:
            progress(f"{case.name}: all legal configurations")
        known = _Known.of(case)
        row: dict[str, Any] = {
            "problem": case.name,
            "workload": case.workload,
            "platform": case.platform,
            "source": case.source,
            "candidates": known.space.size,
            "legal": int(known.rows.shape[0]),
            "good": int(known.good.sum()),
            "share": float(known.good.mean()),
            "best_us": known.best_us,
            "legal_s": known.legal_s,
            "sweep_s": known.sweep_s,
            "configurations_per_s": round(1 / known.row_s),
            "call_s": known.call_s,
            "strategies": {},
        }
        for strategy in strategies:
            found = []
            for seed in range(seeds):
                if progress is not None:
                    progress(f"{case.name}: {strategy}, seed {seed}")
                found.append(_one(known, strategy, seed))
            row["strategies"][strategy] = _summary(found)
        out.append(row)
    return out


@dataclass(frozen=True)
class _Known:
    """All legal rows of a problem (ascending) and what they give."""

    problem: Problem
    space: Space
    rows: Ints
    all: Seen
    good: NDArray[np.bool_]
    best_us: float
    legal_s: float
    sweep_s: float
    row_s: float
    call_s: float

    @classmethod
    def of(cls, case: Case) -> _Known:
        from cost_models import load_platform
        from pto_tune.evaluation import Problem
        from pto_tune.search.batches import evaluated
        from pto_tune.search.proposers import Seen, seen_of
        from pto_tune.space import space
        from pto_tune.spaces.legal import LegalSpace
        from pto_tune.workloads import workload

        problem = Problem.of(workload(case.workload), load_platform(case.platform))
        of = space(problem.workload, case.sizes, case.domains)
        LegalSpace.of(problem, of)
        start = time.perf_counter()
        legal = LegalSpace.of(problem, of)
        legal_s = time.perf_counter() - start
        first = legal.rows(np.arange(min(1, legal.candidates)))
        list(evaluated(problem, of, first))  # compiles
        start = time.perf_counter()
        parts = [seen_of(batch) for rows in legal.chunks() for batch in evaluated(problem, of, rows)]
        seconds = time.perf_counter() - start
        names = ("rows", "cycles", "ok", "memory", "violation")
        every = Seen(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
        calls = []
        for _ in range(_CALLS):
            start = time.perf_counter()
            list(evaluated(problem, of, first))
            calls.append(time.perf_counter() - start)
        best = int(every.cycles[every.ok].min())
        good = every.ok & (every.cycles <= best * (1 + WITHIN))
        us = best / problem.clock_mhz + problem.launch_us
        return cls(problem, of, every.rows, every, good, us, legal_s, seconds, seconds / len(every), median(calls))

    def seen(self, rows: Ints) -> tuple[Seen, NDArray[np.bool_]]:
        """What rows give, and which of them are good. Rows that static rules refuse give nothing."""
        at = np.minimum(np.searchsorted(self.rows, rows), self.rows.shape[0] - 1)
        legal = self.rows[at] == rows
        a = self.all
        return replace(
            a,
            rows=rows,
            cycles=np.where(legal, a.cycles[at], 0),
            ok=legal & a.ok[at],
            memory=np.where(legal, a.memory[at], 0),
            violation=np.where(legal, a.violation[at], 1.0),
        ), legal & self.good[at]


class _Answers:
    """Answers proposed rows from what is known; in the place of a store's replay."""

    def __init__(self, known: _Known) -> None:
        self._known = known
        self.evaluations = 0
        self.calls = 0
        self.own_s = 0.0  # spent here, which is no time of the strategy's
        self.first: int | None = None

    def answers(self, rows: Ints) -> Iterator[tuple[Seen, Batch]]:
        from pto_tune.search.shards import batch_of

        start = time.perf_counter()
        seen, good = self._known.seen(rows)
        self.calls += 1
        hit = np.flatnonzero(good)
        if self.first is None and hit.shape[0]:
            self.first = self.evaluations + int(hit[0]) + 1
        self.evaluations += rows.shape[0]
        empty = batch_of(self._known.problem, rows[:0], None)
        self.own_s += time.perf_counter() - start
        yield seen, empty


def _one(known: _Known, strategy: str, seed: int) -> dict[str, float | None]:
    """Evaluations and seconds of one search to the first good configuration, and of "bounds" to the end."""
    from pto_tune.search.sampled import SampledSearch
    from pto_tune.search.strategies import Plan

    answers = _Answers(known)
    out: dict[str, float | None] = dict.fromkeys(("evaluations", "seconds", "proof_evaluations", "proof_seconds"))
    budget = min(CAPPED.get(strategy, known.space.size), known.rows.shape[0])
    search = SampledSearch(known.problem, known.space, Plan(strategy, ("time",), budget, seed), answers)  # type: ignore[arg-type]
    start = time.perf_counter()

    def seconds() -> float:
        passed = time.perf_counter() - start - answers.own_s
        return passed + answers.calls * known.call_s + answers.evaluations * known.row_s

    for _ in search:
        if answers.first is not None and out["evaluations"] is None:
            out["evaluations"], out["seconds"] = answers.first, seconds()
            if strategy != "bounds":
                break
        if time.perf_counter() - start > LONGEST_S:
            break
    else:
        if strategy == "bounds":
            out["proof_evaluations"], out["proof_seconds"] = answers.evaluations, seconds()
    return out


def _summary(found: Sequence[Mapping[str, float | None]]) -> dict[str, float | int | None]:
    out: dict[str, float | int | None] = {"reached": sum(f["evaluations"] is not None for f in found)}
    for name in found[0]:
        values = [float("inf") if f[name] is None else float(f[name] or 0) for f in found]
        middle = median(values)
        out[name] = None if middle == float("inf") else middle
    return out


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table as text for a page: a line a problem, in each cell evaluations and seconds to within 1 %."""
    names = list(rows[0]["strategies"]) if rows else []
    head = ["problem", "legal", "within 1 %", *names, "proof by bounds", "all of them"]
    lines = [f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 1)}"]
    for row in rows:
        cells = [_cell(row["strategies"][name]) for name in names]
        bounds = row["strategies"].get("bounds", {})
        proof = _cell({"evaluations": bounds.get("proof_evaluations"), "seconds": bounds.get("proof_seconds")})
        facts = [row["problem"], f"{row['legal']:,}", f"{100 * row['share']:.2g} %"]
        lines.append(f"| {' | '.join([*facts, *cells, proof, seconds_text(row['sweep_s'])])} |")
    return "\n".join(lines)


def _cell(found: Mapping[str, Any]) -> str:
    if found.get("evaluations") is None:
        return "–"
    return f"{found['evaluations']:,.0f}; {seconds_text(found['seconds'])}"


def seconds_text(seconds: float) -> str:
    """Two digits of a time."""
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
