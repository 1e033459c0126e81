"""Whatever the workload, it comes back equal; whatever the document, a workload or a sentence comes out."""

import json
import string
from collections.abc import Sequence
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from cost_models.dma import PATHS
from pto_tune.lowering.costs import MODELS
from pto_tune.model import fixpipe, serial
from pto_tune.model.check_remote import ATOMIC_WORDS
from pto_tune.model.communication import (
    COMPARISONS,
    NOTIFY_OPS,
    Barrier,
    Let,
    Post,
    Signal,
    Staging,
    Tget,
    Tnotify,
    Tput,
    Ttest,
    Twait,
)
from pto_tune.model.expr import OPERATORS, Expr, expr, name
from pto_tune.model.nodes import (
    DIRECTIONS,
    MEMORIES,
    PIPE_KINDS,
    PIPES,
    TILE_KINDS,
    Buffer,
    Cost,
    Fifo,
    Instr,
    Launch,
    Loop,
    Node,
    Parameter,
    Ring,
    Rule,
    Talloc,
    TConfig,
    Tfree,
    Tile,
    Token,
    Tpop,
    Tpush,
    Tunable,
    While,
    Workload,
)
from pto_tune.workloads import workload, workload_names

Strategy = st.SearchStrategy

LETTERS = string.ascii_letters
NAMES = st.builds(str.__add__, st.sampled_from(LETTERS), st.text(LETTERS + string.digits + "_", max_size=3)).filter(
    lambda n: n not in ("sub", "rank")
)
TEXTS = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=20).filter(str.isprintable)
BOUNDED = st.integers(-(2**31), 2**31)
SLOW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


# workloads


def expressions(names: Sequence[str]) -> Strategy[Expr]:
    return _expressions(tuple(names))


@lru_cache(maxsize=64)
def _expressions(names: tuple[str, ...]) -> Strategy[Expr]:
    def deeper(inner: Strategy[Expr]) -> Strategy[Expr]:
        return st.sampled_from(sorted(OPERATORS)).flatmap(
            lambda op: st.tuples(*[inner] * OPERATORS[op]).map(lambda args: Expr(op, args))
        )

    leaves = BOUNDED.map(expr) | (st.sampled_from(names).map(name) if names else st.nothing())
    return st.recursive(leaves, deeper, max_leaves=4)


def several(items: Sequence[str], most: int = 2) -> Strategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(list(items)), max_size=most).map(tuple) if items else st.just(())


@st.composite
def parameters(draw: Any, cls: Any, own: str) -> Any:
    low = draw(st.integers(-5, 5) | BOUNDED)
    high = draw(st.integers(low, min(low + 5, 2**31)) | st.integers(low, 2**31))
    inside = st.integers(low, high)
    values: dict[str, Any] = {"name": own, "doc": draw(TEXTS), "minimum": low, "maximum": high}
    values["default"] = draw(inside)
    if low >= 0 and high < 12:
        values["labels"] = tuple(draw(st.lists(NAMES, min_size=high + 1, max_size=high + 1, unique=True)))
    if cls is Tunable:
        values["domain"] = tuple(draw(st.lists(inside, min_size=1, max_size=6, unique=True)))
    return cls(**values)


@st.composite
def costs(draw: Any, names: Sequence[str]) -> Cost:
    e = expressions(names)
    model = draw(st.sampled_from(sorted(MODELS)))
    texts = {"path": st.sampled_from(PATHS), "family": NAMES}
    pairs = [(key, draw(texts.get(key, e))) for key in MODELS[model]]
    return Cost(model, tuple(draw(st.permutations(pairs))))


CONFIGS = st.builds(
    TConfig,
    layout=st.sampled_from(fixpipe.LAYOUTS),
    quant=st.sampled_from(sorted(fixpipe.OUTPUT_TYPES)),
    relu=st.sampled_from(fixpipe.RELU_MODES),
    phase=st.sampled_from(fixpipe.PHASES),
    sub_block_id=st.integers(0, 3),
    atomic=st.sampled_from(fixpipe.ATOMICS),
    clip_relu=st.just("") | NAMES,
    channel_split=st.booleans(),
)


@st.composite
def pipes(draw: Any, own: str, e: Strategy[Expr], tunables: Sequence[str]) -> Fifo:
    """A TPipe or TMPipe of any direction; what a plain pipe has by default is left as it is half of the time."""
    rest: dict[str, Strategy[Any]] = dict.fromkeys(("used", "gm_bytes", "allocate", "record", "wait", "free"), e)
    rest |= {"gated": e, "is_no_split": st.none() | e, "gm_form": st.booleans(), "unit_flag": st.booleans()}
    rest |= {"part_slots": st.booleans()}
    rest |= {"kind": st.sampled_from(PIPE_KINDS)}
    rest |= {part: st.sampled_from(["", *tunables]) for part in ("slot_num_name", "sync_period_name")}
    values: dict[str, Any] = {part: draw(some) for part, some in rest.items() if draw(st.booleans())}
    for part in ("slot_bytes", "slot_num", "sync_period", "local_slot_num", "split", "tile_bytes"):
        values[part] = draw(e)
    return Fifo(own, draw(st.sampled_from(DIRECTIONS)), flag_id=draw(st.integers(0, 255)), **values)


def staging_tiles(own: str, e: Strategy[Expr]) -> Strategy[Staging]:
    some = st.none() | e
    words = dict.fromkeys(("location", "block_layout", "fractal_layout"), NAMES)
    return st.builds(Staging, st.just(own), e, e, NAMES, some, some, e, e, some, e, **words)


def remote_nodes(
    core: str, w: dict[str, Any], e: Strategy[Expr], dynamic: Strategy[Expr], variables: list[str], events: list[str]
) -> list[Strategy[Node]]:
    """What a core of a workload with ranks may have besides; `dynamic` are expressions that may use variables."""
    waits, places = several(events), {"signal": st.sampled_from([s.name for s in w["signals"]]), "at": dynamic}
    notifies = {**places, "op": st.sampled_from(NOTIFY_OPS), "value": dynamic, "announces": st.booleans()}
    looks: dict[str, Strategy[Any]] = {**places, "cmp": st.sampled_from(COMPARISONS), "value": dynamic, "waits": waits}
    looks |= {"view": st.lists(st.tuples(dynamic, dynamic), max_size=3).map(tuple), "remote": st.booleans()}
    nodes: list[Strategy[Node]] = [
        st.builds(Tnotify, **notifies, peer=dynamic, remote=st.booleans(), waits=waits),
        st.builds(Post, **notifies),
        st.builds(Twait, **looks),
        st.builds(Ttest, **looks, into=st.sampled_from(variables)),
        st.builds(Barrier, several(PIPES[core], 3)),
        st.builds(Let, st.sampled_from(variables), dynamic),
    ]
    if core == "AIV":
        tiles = [t.name for t in w["staging"]]
        side: dict[str, Strategy[Any]] = {"src_remote": st.none() | st.booleans(), "elem": NAMES, "layout": NAMES}
        side |= {"dst_remote": side["src_remote"], "dst_elem": st.just("") | NAMES, "dst_layout": st.just("") | NAMES}
        side |= {"atomic": st.sampled_from(ATOMIC_WORDS), "atomic_at_run_time": st.booleans(), "use_pong": e}
        side |= {"shape": st.tuples(*[e] * 5), "peer": dynamic, "waits": waits, "event": st.sampled_from(["", *events])}
        through = {"tile": st.sampled_from(tiles), "pong": st.sampled_from(["", *tiles])}
        for cls in (Tput, Tget):
            nodes += [st.builds(cls, **side, **through), st.builds(cls, **side, asynchronous=st.just(True))]
    return nodes


@st.composite
def programs(draw: Any, core: str, w: dict[str, Any], names: Sequence[str]) -> tuple[Node, ...]:
    """Nodes of every kind; the first two are labelled, and every event has an instruction of its own.

    With ranks, every variable is set at the end; that it may be used before is part of it.
    """
    buffers = [b.name for b in w["buffers"] if b.core == core]
    rings = [r.name for r in w["rings"] if r.core == core]
    out, into = ("C2V", "V2C") if core == "AIC" else ("V2C", "C2V")
    filled = [f.name for f in w["fifos"] if "BOTH" in f.direction or out in f.direction]
    emptied = [f.name for f in w["fifos"] if "BOTH" in f.direction or into in f.direction]
    events = draw(st.lists(NAMES, max_size=2, unique=True))
    ranked = bool(w["signals"])
    inner = [*names, "block", "sub", *(["rank"] if ranked else [])]
    e = expressions(inner)
    free = NAMES.filter(lambda n: n not in (*names, "block"))
    variables = draw(st.lists(free, min_size=1, max_size=2, unique=True)) if ranked else []
    dynamic = expressions([*inner, *variables])
    pipes = st.sampled_from(PIPES[core])
    flags = st.none() | st.sampled_from([("mm", "st"), ("st", "mm")])
    tokens = (
        st.lists(st.builds(Token, st.sampled_from(buffers), flags), max_size=2).map(tuple) if buffers else st.just(())
    )
    transfer: dict[str, Strategy[Any]] = {
        "costs": st.lists(costs(inner), max_size=2).map(tuple),
        "acquires": several(buffers),
        "takes": several(buffers),
        "publishes": tokens,
        "releases": tokens,
    }
    order: dict[str, Strategy[Any]] = {"waits": several(events), "event": st.sampled_from(["", *events])}
    instr = st.builds(
        Instr,
        name=NAMES,
        pipe=pipes,
        **transfer,
        **order,
        writes=several([*filled, *rings]),
        reads=several([*emptied, *rings]),
        issues=st.integers(1, 40),
    )
    tiles = st.builds(Tile, st.sampled_from(TILE_KINDS), rows=e, cols=e, elem_bytes=e, **transfer)
    order |= {"split": st.none() | e}
    calls: list[Strategy[Node]] = []
    if filled:
        push = st.sampled_from(filled)
        calls += [st.builds(Talloc, push, **order), st.builds(Tpush, push, **order)]
        calls += [st.builds(Tpush, push, tiles, st.none() | CONFIGS, **order)]
        calls += [st.builds(Tpush, push, tiles, simplified=st.just(True), **order)]
    if emptied:
        pop = st.sampled_from(emptied)
        calls += [st.builds(Tpop, pop, st.none() | tiles, **order), st.builds(Tfree, pop, st.booleans(), **order)]
    remote = remote_nodes(core, w, e, dynamic, variables, events) if ranked else []
    calls += remote
    index = st.sampled_from(["", *variables])
    leaf: Strategy[Node] = st.one_of(*calls, instr)
    bodies = st.lists(leaf, max_size=2).map(tuple)
    inside = st.lists(st.one_of(*calls, st.builds(Loop, dynamic, bodies, index=index)), max_size=2).map(tuple)
    nodes = leaf | st.builds(Loop, dynamic, inside, index=index)
    if ranked:
        remote.append(st.builds(While, dynamic, dynamic, inside))
        nodes |= remote[-1]
    drain = Cost("drain", tuple((key, draw(e)) for key in ("rows", "cols", "out_bytes", "hbm_bytes")))
    labelled = (
        Instr("TMATMUL", draw(pipes), (draw(costs(inner)),), label="mm"),
        Instr("TSTORE", draw(pipes), (drain,), label="st"),
    )
    steady = draw(st.lists(st.builds(Loop, e, st.lists(nodes, max_size=3).map(tuple), st.just(True)), max_size=1))
    rest = draw(st.lists(nodes, max_size=4))
    rest += draw(st.lists(st.one_of(remote), min_size=2, max_size=4)) if ranked else []
    sets = [Let(variable, draw(dynamic)) for variable in variables]
    return (*labelled, *(Instr("SET", draw(pipes), event=one) for one in events), *rest, *steady, *sets)


@st.composite
def workloads(draw: Any) -> Workload:
    own = draw(st.lists(NAMES, min_size=8, max_size=8, unique=True))
    sizes = draw(st.integers(0, 2)), draw(st.integers(0, 2)), draw(st.integers(0, 2))
    problem = tuple(draw(parameters(Parameter, n)) for n in own[: sizes[0]])
    tunables = tuple(draw(parameters(Tunable, n)) for n in own[2 : 2 + sizes[1]])
    names = [p.name for p in (*problem, *tunables)]
    derived = []
    for n in own[4 : 4 + sizes[2]]:
        derived.append((n, draw(expressions([*names, "block"]))))
        names.append(n)
    e = expressions([*names, "block"])
    places = st.sampled_from([(core, memory) for core in PIPES for memory in MEMORIES[core]])
    tracks = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    w: dict[str, Any] = {
        "buffers": tuple(
            Buffer(n, core, memory, draw(e), draw(e))
            for n in draw(st.lists(NAMES, max_size=3, unique=True))
            for core, memory in [draw(places)]
        ),
        "rings": tuple(Ring(tracks[0], core, memory, draw(e), draw(e)) for core, memory in [draw(places)]),
        "fifos": tuple(draw(pipes(n, e, [t.name for t in tunables])) for n in tracks[1:]),
        "signals": (),
        "family": draw(st.sampled_from(["", "a2a3", "a5"])),
    }
    if draw(st.booleans()):
        plain = expressions(names)
        one_or_two = st.lists(NAMES, min_size=1, max_size=2, unique=True)
        dims = st.lists(plain, max_size=6).map(tuple)
        w |= {
            "ranks": draw(plain.filter(lambda ranks: ranks != expr(0))),
            "ranks_per_node": draw(plain),
            "signals": tuple(Signal(n, draw(dims), draw(NAMES), draw(plain)) for n in draw(one_or_two)),
            "staging": tuple(draw(staging_tiles(n, e)) for n in draw(one_or_two)),
        }
    both = st.permutations(sorted(PIPES))
    cores = draw(both) if w["fifos"] else draw(both)[: draw(st.integers(1, 2))]
    rule_names = draw(st.lists(st.from_regex(r"[a-z][a-z-]{0,8}", fullmatch=True), max_size=2, unique=True))
    return Workload(
        name=draw(NAMES),
        doc=draw(TEXTS),
        problem=problem,
        tunables=tunables,
        derived=tuple(derived),
        programs=tuple((core, draw(programs(core, w, names))) for core in cores),
        launch=Launch(draw(expressions(names)), draw(expressions(names))),
        rules=tuple(
            Rule(n, draw(e), "{value} is over {limit}", draw(e), draw(e), draw(st.none() | e)) for n in rule_names
        ),
        uses_ub_scratch=draw(st.booleans()),
        l2_footprint=draw(e),
        **w,
    )


@settings(SLOW, max_examples=50)
@given(workloads())
def test_every_workload_comes_back_equal(w: Workload) -> None:
    assert serial.check(w) == []
    todo = [node for _, body in w.programs for node in body]
    while todo:
        node = todo.pop()
        event(type(node).__name__ + (" of a tile" if getattr(node, "tile", None) else ""))
        todo += node.body if isinstance(node, Loop | While) else ()
    text = serial.to_json(w)
    assert serial.from_json(text) == w
    assert serial.to_json(serial.from_json(text)) == text


# documents

KEYS = sorted(
    {
        *("format", "kind", "model", "costs", "body", "name", "value", "AIC", "AIV", "programs", "trips", "steady"),
        *("fifo", "tile", "config", "split", "waits", "event", "simplified", "rows", "quant"),
        *("ranks", "signals", "staging", "signal", "peer", "view", "shape", "into", "index", "pipes", "condition"),
    }
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(
        [
            *(*KEYS, *OPERATORS, serial.FORMAT),
            *("instr", "loop", "tpop", "tpush", "Acc", "dma", "gm_to_ub", "qk", "s0"),
            *("while", "tput", "tnotify", "twait", "ttest", "post", "barrier", "let", "rank", "GE", "done", "ping"),
        ]
    )
)
JSON: Strategy[Any] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def read(document: Any) -> Workload | None:
    """The workload, or None where the document is refused in sentences that say where and what."""
    try:
        return serial.from_dict(document)
    except serial.WorkloadError as e:
        for line in str(e).split("\n"):
            assert line.isprintable()
            assert len(line) < 2000
            assert ": " in line or line.startswith("... and ")
        return None


@given(JSON)
def test_any_json_is_refused_in_sentences(document: Any) -> None:
    assert read(document) is None


@given(st.fixed_dictionaries({}, optional={field.name: JSON for field in fields(Workload)}))
def test_any_parts_are_refused_in_sentences(parts: dict[str, Any]) -> None:
    read({"format": serial.FORMAT, **parts})


@given(st.text())
def test_any_text_is_refused_in_sentences(text: str) -> None:
    with pytest.raises(serial.WorkloadError, match=": "):
        serial.from_json(text)


DOCUMENTS = {n: serial.to_json(workload(n)) for n in workload_names()}
for document in ("calls", "ranks"):
    DOCUMENTS[document] = Path(__file__).with_name(f"{document}.json").read_text("utf-8")


def places(document: Any) -> list[tuple[Any, Any]]:
    """Every container in the document with each of its keys."""
    found: list[tuple[Any, Any]] = []
    todo = [document]
    while todo:
        inside = todo.pop()
        if isinstance(inside, dict | list):
            keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
            found += [(inside, key) for key in keys]
            todo += [inside[key] for key in keys]
    return found


@SLOW
@given(st.sampled_from(sorted(DOCUMENTS)), st.data())
def test_a_changed_document_is_a_workload_or_refused(which: str, data: st.DataObject) -> None:
    document = json.loads(DOCUMENTS[which])
    for _ in range(data.draw(st.integers(1, 3))):
        inside, key = data.draw(st.sampled_from(places(document)))
        match data.draw(st.sampled_from(["nudge", "replace", "delete", "swap", "add", "repeat"])):
            case "nudge" if type(inside[key]) is int:
                inside[key] += data.draw(st.integers(-1, 1))
            case "delete":
                del inside[key]
            case "swap":
                other, at = data.draw(st.sampled_from(places(document)))
                inside[key] = json.loads(json.dumps(other[at]))
            case "add" if isinstance(inside, dict):
                inside[data.draw(st.text(max_size=5))] = data.draw(JSON)
            case "repeat" if isinstance(inside, list):
                inside += [json.loads(json.dumps(inside[key]))] * data.draw(st.integers(1, 5))
            case _:
                inside[key] = data.draw(JSON)
        assume(places(document))
    got = read(document)
    event("read" if got else "refused")
    if got is not None:
        assert serial.check(got) == []
        assert serial.from_json(serial.to_json(got)) == got


@given(st.data())
def test_a_cut_text_is_refused(data: st.DataObject) -> None:
    text = DOCUMENTS["gemm"]
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(serial.WorkloadError, match=": "):
        serial.from_json(text[:cut] + data.draw(st.sampled_from(["", " ", ",", "0", '"'])))
