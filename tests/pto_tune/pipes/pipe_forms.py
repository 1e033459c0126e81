"""One pipe in every form that the library has, small enough to say what should come out, and what does.

A kernel pushes `tiles` tiles of `rows` x `cols` elements through one pipe, named "pipe". The steps of one tile are
given by name and may stand in any order:

    producer   TALLOC TSTORE TPUSH        GlobalData      TPUSH                 TileData
    consumer   TPOP TLOAD TFREE COMPUTE   GlobalData      TPOP COMPUTE TFREE    TileData

A pipe that goes both ways pushes first on AIC and pops first on AIV. Each consumer works in two local tiles, whose
tokens order load and compute; into a ring in UB or L1 nothing is loaded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from cost_models import Platform, load_platform
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.legality.warnings import warnings
from pto_tune.lowering.columns import environment
from pto_tune.model.expr import Expr, expr, name
from pto_tune.model.nodes import FLOWS_OF, UP_DOWN, Buffer, Cost, Fifo, Launch, Node, TConfig, Tile, Token, Workload
from pto_tune.model.vocabulary import (
    cycles,
    half_cols,
    half_rows,
    instr,
    loop,
    talloc,
    tfree,
    tile,
    tpop,
    tpush,
)
from pto_tune.rule_sets import rule_set_for
from pto_tune.verdicts import VERDICTS

FAMILIES = {"a2a3": "ascend910b2", "a5": "ascend950pr"}
GLOBAL, TILES = "GlobalData", "TileData"
SUB = name("sub")

SOUND = (
    ("a2a3", "C2V", TILES),
    ("a2a3", "C2V", GLOBAL),
    ("a2a3", "V2C", TILES),
    ("a2a3", "V2C", GLOBAL),
    ("a5", "C2V", TILES),
    ("a5", "C2V", GLOBAL),
    ("a5", "V2C", TILES),
)
"""Pipes that nothing spoils by itself: V2C_GM, which GlobalData of 950 would need, is always a race."""

STORE = {"C2V": "FIX", "V2C": "MTE3"}
COMPUTE = {("C2V", TILES): "V", ("C2V", GLOBAL): "V", ("V2C", TILES): "MTE1", ("V2C", GLOBAL): "M"}
"""Where the consumer computes: AIC reads a tile out of L1 on MTE1."""
PRODUCER_STEPS = {GLOBAL: "TALLOC TSTORE TPUSH", TILES: "TPUSH"}
CONSUMER_STEPS = {GLOBAL: "TPOP TLOAD TFREE COMPUTE", TILES: "TPOP COMPUTE TFREE"}


# Workloads


def fifo(direction: str = "C2V", **changes: Any) -> Fifo:
    """A TPipe of four slots for tiles of 64 x 64 elements of 4 bytes, by UP_DOWN; numbers stand for expressions."""
    plain = Fifo(
        "pipe", direction, expr(16384), expr(4), expr(0), expr(2), expr(UP_DOWN), 0, expr(32), is_no_split=None
    )
    fixed = {k for k, v in vars(plain).items() if isinstance(v, str | bool | int)}
    given = {k: v if k in fixed or v is None or isinstance(v, Expr) else expr(v) for k, v in changes.items()}
    return replace(plain, **given)


def part(kind: str, rows: int, cols: int, elem: int, split: int) -> Tile:
    """The tile of a core: whole on AIC, a sub-core's part on AIV."""
    if kind in ("Acc", "Mat"):
        return tile(kind, rows, cols, elem)
    return tile(kind, half_rows(expr(rows), expr(split)), half_cols(expr(cols), expr(split)), elem)


def kernel(aic: Sequence[Node], aiv: Sequence[Node], *fifos: Fifo, **changes: Any) -> Workload:
    """One block of two programs."""
    plain = Workload(
        name="kernel",
        doc="",
        problem=(),
        tunables=(),
        buffers=(),
        fifos=fifos,
        programs=(("AIC", tuple(aic)), ("AIV", tuple(aiv))),
        launch=Launch(expr(1)),
    )
    return replace(plain, **changes)


def one_pipe(
    direction: str = "C2V",
    flow: str = TILES,
    *,
    tiles: int = 12,
    produce: str = "",
    consume: str = "",
    split: int = UP_DOWN,
    push_split: int | None = None,
    pop_split: int | None = None,
    second_sub_core: bool = True,
    config: TConfig | None = None,
    simplified: bool = False,
    rows: int = 64,
    cols: int = 64,
    elem: int = 4,
    pop_rows: int | None = None,
    pop_elem: int | None = None,
    store: int | None = 100,
    load: int | None = 100,
    compute: int | tuple[Cost, ...] = 100,
    local_tiles: int = 2,
    buffers: tuple[Buffer, ...] = (),
    uses_ub_scratch: bool = False,
    **changes: Any,
) -> Workload:
    """A kernel with one pipe; `changes` are those of its Fifo.

    `store` and `load` are cycles (None: the model's price of a tile, in the TileData flow). `push_split` and
    `pop_split` are Splits of the calls where they are not the pipe's, `pop_rows` and `pop_elem` rows and bytes of an
    element of what is popped where they are not those of what is pushed.
    """
    made = fifo(direction, split=split, **{"slot_bytes": rows * cols * elem, **changes})
    push, pop = (split if s is None else s for s in (push_split, pop_split))
    given, taken = (None if s is None else expr(s) for s in (push_split, pop_split))
    stored, loaded = (() if c is None else (cycles(c),) for c in (store, load))
    programs: dict[str, list[Node]] = {"AIC": [], "AIV": []}
    local = []
    for way in FLOWS_OF[direction]:
        giver, taker = ("AIC", "AIV") if way == "C2V" else ("AIV", "AIC")
        memory = "UB" if taker == "AIV" else "L1"
        local.append(Buffer(f"in_{way}", taker, memory, expr(0), expr(local_tiles)))
        into = (f"in_{way}",)
        sent = part("Acc" if giver == "AIC" else "Vec", rows, cols, elem, push)
        got = part("Vec" if taker == "AIV" else "Mat", pop_rows or rows, cols, pop_elem or elem, pop)
        got = replace(got, costs=loaded, acquires=into, publishes=(Token(into[0]),))
        call = {"config": config, "simplified": simplified}
        steps: dict[str, Node] = {
            "TALLOC": talloc("pipe", split=given),
            "TSTORE": instr("TSTORE", STORE[way], *stored, writes=["pipe"]),
            "TPUSH": tpush("pipe", split=given)
            if flow == GLOBAL
            else tpush("pipe", replace(sent, costs=stored), split=given, **call),
            "TPOP": tpop("pipe", None if flow == GLOBAL else got, split=taken),
            "TLOAD": instr("TLOAD", "MTE2", *loaded, reads=["pipe"], acquires=into, publishes=into),
            "COMPUTE": instr(
                "COMPUTE",
                COMPUTE[way, flow],
                *((cycles(compute),) if isinstance(compute, int) else compute),
                takes=into,
                releases=into,
                reads=[] if flow == GLOBAL else ["pipe"],
            ),
            "TFREE": tfree("pipe", split=taken, tile=flow == TILES),
            "TFREE(pipe)": tfree("pipe", split=taken, tile=True),
        }
        programs[giver] += [steps[s] for s in (produce or PRODUCER_STEPS[flow]).split()]
        programs[taker] += [steps[s] for s in (consume or CONSUMER_STEPS[flow]).split()]
    return kernel(
        [loop(tiles, *programs["AIC"])],
        [loop(expr(tiles) if second_sub_core else tiles * (1 - SUB), *programs["AIV"])],
        made,
        buffers=(*local, *buffers),
        uses_ub_scratch=uses_ub_scratch,
    )


# Answers


@dataclass(frozen=True)
class Answer:
    """What comes out of one configuration. `rules` are the names of all broken rules with their sentences, the one of
    the verdict first; `cycles` is None where there are none."""

    verdict: str
    rules: Mapping[str, str]
    verdicts: tuple[str, ...]
    cycles: int | None
    evaluation: Evaluation

    @property
    def rule(self) -> str:
        """Name of the rule that the verdict comes from, "" where it is ok."""
        return next(iter(self.rules), "")

    @property
    def sentence(self) -> str:
        """Why, "" where the verdict is ok."""
        return next(iter(self.rules.values()), "")

    def busy(self, pipe: str) -> int:
        """Busy cycles of a pipe, as "AIV0.MTE2"."""
        return int(self.evaluation.busy[0, self.evaluation.problem.code.pipes.index(pipe)])


@cache
def chip(family: str, free_sync: bool = False, overrides: tuple[tuple[str, float], ...] = ()) -> Platform:
    """The platform of a family; with `free_sync` nothing takes time but what instructions do."""
    plain = load_platform(FAMILIES[family])
    keys = ["scalar.issue", "flags.set", "flags.wait", "flags.cross_core_latency", "fixpipe.latency"]
    keys += [k for k in plain if k.startswith("dma.") and k.endswith(".latency")]
    return load_platform(FAMILIES[family], {**(dict.fromkeys(keys, 0) if free_sync else {}), **dict(overrides)})


def ask(
    work: Workload,
    family: str,
    rules: str | None = None,
    *,
    free_sync: bool = False,
    overrides: Mapping[str, float] | None = None,
    **columns: int,
) -> Answer:
    """Evaluate one configuration under a rule set (None: the family's default)."""
    on = chip(family, free_sync, tuple(sorted((overrides or {}).items())))
    e = evaluate_columns(Problem.of(work, on, rules), columns)
    first = int(e.rule[0])
    numbers = sorted((int(r) for r in np.flatnonzero(e.broken[:, 0])), key=lambda r: r != first)
    return Answer(
        verdict=VERDICTS[e.verdict[0]],
        rules={e.rules[r]: e.sentence(0, r) for r in numbers},
        verdicts=tuple(dict.fromkeys(VERDICTS[e.rule_verdict(r)] for r in numbers)) or ("ok",),
        cycles=int(e.cycles[0]) if e.timed[0] else None,
        evaluation=e,
    )


def warned(work: Workload, family: str) -> dict[str, str]:
    """The warnings of a workload without parameters, with their sentences."""
    env = environment(work, {"block": np.zeros(1, dtype=np.int64)})
    found = warnings(work, chip(family), rule_set_for(family), env, 1)
    return {w.name: w.sentence(0) for w in found if w.broken[0]}
