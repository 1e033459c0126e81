"""Workloads as JSON, and the check that a workload holds together.

Everything is data: nodes are objects with their fields under the names of `pto_tune.model.nodes` (fields that
have their default value may be left out), expressions are nested lists, programs an object by core. A node says
by `kind` what it is: instr, loop, talloc, tpush, tpop or tfree. The arguments of a cost stand beside its `model`;
a token without unit flag is the buffer's name. An instruction's `issues` defaults to one for each cost.

Reading has two parts. The reader builds the workload and reports what it cannot build: lists, objects, keys and
expressions. The check looks at every value in the result, and skips what the reader has reported. It serves
workloads built in Python just as well. The limits below keep a document from strangers small enough to evaluate;
the size of real workloads is a hundredth of them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from pto_tune.lowering.costs import MODELS
from pto_tune.model import expr
from pto_tune.model.expr import MAX_VALUE, OPERATORS, Expr, brief
from pto_tune.model.nodes import (
    DIRECTIONS,
    MEMORIES,
    PIPES,
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
    Tfree,
    Token,
    Tpop,
    Tpush,
    Tunable,
    Workload,
)

FORMAT = "pto-tune-workload/1"
MAX_BYTES = 8 * 2**20
"""Longest document in bytes."""
MAX_NODES = 10_000
"""Most nodes in the programs of a workload."""
MAX_TERMS = 100_000
"""Most names, integers and operators in all expressions of a workload."""
MAX_LOOPS = 16
"""Deepest nesting of loops."""
MAX_BUFFERS = 64
MAX_FIFOS = 16
MAX_DOMAIN = 4096
MAX_ITEMS = 256
"""Most entries of every other list."""
MAX_NAME = 64
MAX_TEXT = 1000
"""Longest description in characters."""
MAX_SHOWN = 100
"""Most errors that a message spells out."""

MAX_FLAG_ID = 255
"""TPipe takes its FlagID as uint8_t; which ids a platform has is a rule, not a matter of form."""
MAX_LISTED = 24

_SPECIAL = {"block": "anywhere but in the launch", "sub": "in costs only"}
_TEXT_ARGS = ("path", "family")
_KINDS: dict[str, type[Any]] = {
    "instr": Instr, "loop": Loop, "talloc": Talloc, "tpush": Tpush, "tpop": Tpop, "tfree": Tfree,
}  # fmt: skip
_KIND_OF = {cls: kind for kind, cls in _KINDS.items()}
_RECORDS = {cls.__name__: cls for cls in (Parameter, Tunable, Buffer, Ring, Fifo, Rule, Launch)}
_UNREAD: tuple[Any, ...] = ()
"""In the place of what the reader could not read; of no type that the check would accept."""


class WorkloadError(ValueError):
    """A workload is malformed: one sentence a line, each with its place."""


def _error(sentences: Sequence[str]) -> WorkloadError:
    shown = list(sentences[:MAX_SHOWN])
    if len(sentences) > MAX_SHOWN:
        shown.append(f"... and {len(sentences) - MAX_SHOWN} more errors")
    return WorkloadError("\n".join(shown))


def to_dict(workload: Workload) -> dict[str, Any]:
    """The workload as objects, lists, texts and integers of JSON. WorkloadError as `check` finds them."""
    sentences = check(workload)
    if sentences:
        raise _error(sentences)
    return {"format": FORMAT} | _plain(workload)


def to_json(workload: Workload, indent: int | None = None) -> str:
    """The workload as JSON text, which `from_json` reads back to an equal one. WorkloadError as `to_dict`."""
    return json.dumps(to_dict(workload), indent=indent, ensure_ascii=False)


def from_dict(data: Any, where: str = "workload") -> Workload:
    """Read what `to_dict` wrote. WorkloadError has all errors; `where` names the document as a whole."""
    reader = _Reader()
    if not isinstance(data, dict):
        raise WorkloadError(f"{where}: {brief(data)} is no workload: expected an object")
    if "format" not in data:
        reader.fault("format", f"is missing: expected {FORMAT!r}")
    elif data["format"] != FORMAT:
        raise WorkloadError(f"format: {brief(data['format'])} cannot be read: expected {FORMAT!r}")
    workload: Workload = reader.record(Workload, data, "", own="format", where=where)
    sentences = reader.faults + _Check(workload, reader.unread).run()
    if sentences:
        raise _error(sentences)
    return workload


def from_json(text: str) -> Workload:
    """Read JSON text. WorkloadError has all errors of a document that is JSON, or the first of one that is not."""
    if len(text) > MAX_BYTES:
        raise WorkloadError(f"workload: has {len(text)} characters: expected at most {MAX_BYTES}")
    try:
        data = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as e:
        raise WorkloadError(
            f"workload: line {e.lineno}, column {e.colno} is no JSON ({e.msg}): expected a JSON object"
        ) from None
    except RecursionError:
        raise WorkloadError("workload: is nested too deeply: expected a document of this format") from None
    except ValueError:  # Python's own limit on the digits of an integer
        raise WorkloadError("workload: an integer has thousands of digits: expected at most ten") from None
    return from_dict(data)


def load(path: str | Path) -> Workload:
    """Read a UTF-8 file of at most `MAX_BYTES`. WorkloadError names the file in each line."""
    file = Path(path)
    try:
        if not file.is_file():
            raise WorkloadError("no such file: expected the JSON of a workload")
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise WorkloadError(f"the file is too long: expected at most {MAX_BYTES} bytes")
        return from_json(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as e:
        raise WorkloadError(f"{file}: byte {e.start} is not UTF-8: expected UTF-8 text") from None
    except OSError as e:
        raise WorkloadError(f"{file}: cannot be read ({e.strerror}): expected a readable file") from None
    except WorkloadError as e:
        raise WorkloadError("\n".join(f"{file}: {line}" for line in str(e).split("\n"))) from None


def check(workload: Workload) -> list[str]:
    """What is wrong with a workload, one sentence an error with its place in the JSON form; empty if nothing is.

    Checked are names, texts, bounds, references and limits, not whether the program ends or fits into memory.
    """
    return _Check(workload, set()).run()


@dataclass(frozen=True)
class _Derived:
    """How an entry of `Workload.derived` is written."""

    name: str
    value: Expr


# writing


def _plain(value: Any) -> Any:
    match value:
        case Expr():
            return expr.to_json(value)
        case Token(buffer, None):
            return buffer
        case Cost():
            return {"model": value.model, **{name: _plain(v) for name, v in value.args}}
        case tuple():
            return [_plain(v) for v in value]
        case _ if not is_dataclass(value):
            return value
    plain = {"kind": _KIND_OF[type(value)]} if type(value) in _KIND_OF else {}
    for field in fields(value):
        v = getattr(value, field.name)
        if isinstance(value, Workload) and field.name == "programs":
            plain[field.name] = {core: _plain(body) for core, body in v}
        elif isinstance(value, Workload) and field.name == "derived":
            plain[field.name] = [_plain(_Derived(*pair)) for pair in v]
        elif v != _default(field, value.costs if isinstance(value, Instr) else ()):
            plain[field.name] = _plain(v)
    return plain


def _default(field: Field[Any], costs: Sequence[Any]) -> Any:
    """Value of a field that is left out, or MISSING where it may not be."""
    if field.name == "issues":
        return max(1, len(costs))
    return field.default if field.default_factory is MISSING else field.default_factory()


# reading


class _Object(dict[str, Any]):
    """An object of JSON, with the keys that stand there more than once."""

    twice: Sequence[str] = ()


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    obj = _Object(pairs)
    if len(obj) < len(pairs):
        obj.twice = [key for key, n in Counter(key for key, _ in pairs).items() if n > 1]
    return obj


class _Reader:
    """Builds nodes out of JSON values. Texts and numbers are taken as they are: the check looks at them."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.unread: set[str] = set()  # places where nothing could be read
        self.loops = 0

    def fault(self, place: str, sentence: str) -> None:
        self.faults.append(f"{place}: {sentence}")
        self.unread.add(place)

    def keys(self, data: Any, place: str, known: Collection[str] | None = None) -> bool:
        """Whether `data` is an object; repeated keys and such as are not known are reported."""
        if not isinstance(data, dict):
            self.fault(place, f"is {brief(data)}: expected an object")
            return False
        for key in getattr(data, "twice", ()):
            self.faults.append(f"{place}: the key {brief(key)} stands there twice: expected it once")
        for key in data:
            if known is not None and key not in known:
                self.faults.append(f"{place}: unknown key {brief(key)}: expected {_one_of(known)}")
        return True

    def record(self, cls: type[Any], data: Any, place: str, own: str = "", where: str = "") -> Any:
        """An object with the fields of `cls`, whose annotations say what to read, and with the key `own`."""
        known = {field.name: field for field in fields(cls)}
        read = self.keys(data, place or where, [own, *known] if own else known)
        values: dict[str, Any] = {}
        for name, field in known.items():
            at = f"{place}.{name}" if place else name
            default = _default(field, values.get("costs", ()))
            if read and name in data:
                values[name] = self.value(str(field.type), data[name], at)
            elif default is not MISSING:
                values[name] = default
            else:
                values[name] = _UNREAD
                if read:
                    self.fault(at, "is missing: expected a value")
        return cls(**values)

    def value(self, kind: str, data: Any, place: str) -> Any:
        """What the annotation `kind` asks for."""
        if data is None and kind.endswith(" | None"):
            return None
        kind = kind.removesuffix(" | None")
        if kind in _RECORDS:
            return self.record(_RECORDS[kind], data, place)
        match kind:
            case "Expr":
                return self.expression(data, place)
            case "Node":
                return self.node(data, place)
            case "Cost":
                return self.cost(data, place)
            case "Token":
                return Token(data) if isinstance(data, str) else self.record(Token, data, place)
            case "tuple[str, Expr]":
                pair = self.record(_Derived, data, place)
                return (pair.name, pair.value)
            case "tuple[str, str]":
                return self.each("str", data, place)
            case "tuple[tuple[str, tuple[Node, ...]], ...]":
                return tuple(
                    (core, self.each("Node", body, f"{place}.{core}") if core in PIPES else ())
                    for core, body in (data.items() if self.keys(data, place) else ())
                )
        if kind.startswith("tuple["):
            return self.each(kind.removeprefix("tuple[").removesuffix(", ...]"), data, place)
        return data

    def each(self, kind: str, data: Any, place: str) -> tuple[Any, ...]:
        if not isinstance(data, list):
            self.fault(place, f"is {brief(data)}: expected a list")
            return _UNREAD
        return tuple(self.value(kind, item, f"{place}[{i}]") for i, item in enumerate(data))

    def expression(self, data: Any, place: str) -> Expr:
        before = len(self.faults)
        e = expr.read(data, place, self.faults)
        if len(self.faults) > before:
            self.unread.add(place)
        return e

    def node(self, data: Any, place: str) -> Any:
        kind = data.get("kind") if isinstance(data, dict) else None
        if not isinstance(kind, str) or kind not in _KINDS:
            what = "has no kind" if isinstance(data, dict) and "kind" not in data else f"is {brief(data)}"
            what = f"{brief(kind)} is no kind of node" if kind is not None else what
            self.fault(place, f"{what}: expected an object whose 'kind' is {_one_of(_KINDS)}")
            return _UNREAD
        if kind == "loop" and self.loops == MAX_LOOPS:
            self.fault(place, f"loops are nested too deeply: expected at most {MAX_LOOPS} levels")
            return _UNREAD
        self.loops += kind == "loop"
        node = self.record(_KINDS[kind], data, place, own="kind")
        self.loops -= kind == "loop"
        return node

    def cost(self, data: Any, place: str) -> Cost:
        read = self.keys(data, place)
        if read and "model" not in data:
            self.fault(f"{place}.model", f"is missing: expected {_one_of(MODELS)}")
        model = data.get("model", _UNREAD) if read else _UNREAD
        formulas = set(MODELS[model] if isinstance(model, str) and model in MODELS else ()) - set(_TEXT_ARGS)
        args = [(key, value) for key, value in data.items() if key != "model"] if read else []
        return Cost(
            model, tuple((k, self.expression(v, f"{place}.{k}") if k in formulas else v) for k, v in args)
        )


# checking


def _one_of(choices: Iterable[str]) -> str:
    words = list(choices)
    if len(words) > MAX_LISTED:
        return f"{', '.join(words[:MAX_LISTED])} or {len(words) - MAX_LISTED} others"
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


class _Names(dict[str, str]):
    """Names that are defined, and where; `complete` unless a definition could not be read."""

    complete = True


class _Check:
    """Collects what is wrong. Says nothing about `unread` places, nor about names that may be defined there."""

    def __init__(self, workload: Workload, unread: set[str]) -> None:
        self.workload, self.unread, self.faults = workload, unread, list[str]()
        self.scope, self.sizes = (
            self.names("problem", "tunables", "derived"),
            self.names("problem", "tunables"),
        )
        self.tracks = self.names("rings", "fifos")
        self.buffers = {core: self.names("buffers") for core in PIPES}
        self.rings = {core: self.names("rings") for core in PIPES}
        self.ends = {(core, producer): self.names("fifos") for core in PIPES for producer in (True, False)}
        self.nodes = self.terms = 0
        self.comparable = True  # expressions are shallow and few

    def run(self) -> list[str]:
        w = self.workload
        self.name("name", w.name)
        self.text("doc", w.doc)
        self.flag("uses_ub_scratch", w.uses_ub_scratch)
        for place, p in self.items("problem", w.problem, MAX_ITEMS):
            self.parameter(place, p)
        for place, t in self.items("tunables", w.tunables, MAX_ITEMS):
            self.parameter(place, t)
            self.domain(f"{place}.domain", t)
        for place, (name, value) in self.items("derived", w.derived, MAX_ITEMS):
            self.expression(f"{place}.value", value, "block")
            self.define(f"{place}.name", name, self.scope)
        self.memory()
        for place, fifo in self.items("fifos", w.fifos, MAX_FIFOS):
            self.fifo(place, fifo)
        self.programs()
        self.expression("launch.blocks", w.launch.blocks)
        self.expression("launch.varying", w.launch.varying)
        self.expression("l2_footprint", w.l2_footprint, "block")
        self.rules()
        return self.faults

    # values

    def say(self, place: str, sentence: str) -> None:
        at = place
        while at and at not in self.unread:
            at = at[: max(at.rfind("."), at.rfind("["), 0)]
        if not at:
            self.faults.append(f"{place}: {sentence}")

    def names(self, *places: str) -> _Names:
        names = _Names()
        names.complete = self.unread.isdisjoint(places)
        return names

    def items(self, place: str, items: Sequence[Any], most: int) -> list[tuple[str, Any]]:
        """The entries with their places, as many as there may be."""
        if len(items) > most:
            self.say(place, f"has {len(items)} entries: expected at most {most}")
        return [(f"{place}[{i}]", item) for i, item in enumerate(items[:most])]

    def name(self, place: str, value: Any, marks: str = "_") -> None:
        if not (
            isinstance(value, str)
            and len(value) <= MAX_NAME
            and re.fullmatch(f"[A-Za-z][A-Za-z0-9{marks}]*", value)
        ):
            self.say(
                place,
                f"{brief(value)} is no name: expected a letter, then letters, digits or {' '.join(marks)}, "
                f"at most {MAX_NAME} characters",
            )

    def define(self, place: str, name: Any, *scopes: _Names, marks: str = "_") -> None:
        """A name that is new in the first scope."""
        self.name(place, name, marks)
        if not isinstance(name, str):
            for scope in scopes:
                scope.complete = False
            return
        taken = scopes[0].get(name)
        if scopes[0] is self.scope and name in _SPECIAL:
            taken = "a name that is always there"
        if taken:
            self.say(place, f"{brief(name)} is taken by {taken}: expected another name")
        for scope in scopes:
            scope.setdefault(name, place)

    def refer(self, place: str, name: Any, what: str, *known: Collection[str]) -> None:
        """A name out of one of the collections."""
        if isinstance(name, str) and any(
            name in names or not getattr(names, "complete", True) for names in known
        ):
            return
        words = [word for names in known for word in names]
        expected = f"expected {_one_of(words)}" if words else "there is none"
        self.say(place, f"{brief(name)} is no {what}: {expected}")

    def text(self, place: str, value: Any) -> None:
        if not (isinstance(value, str) and len(value) <= MAX_TEXT and value.isprintable()):
            self.say(place, f"{brief(value)} is no text: expected one line of at most {MAX_TEXT} characters")

    def flag(self, place: str, value: Any) -> None:
        if not isinstance(value, bool):
            self.say(place, f"is {brief(value)}: expected true or false")

    def integer(self, place: str, value: Any, low: int = -MAX_VALUE, high: int = MAX_VALUE) -> bool:
        if isinstance(value, bool) or not isinstance(value, int):
            self.say(place, f"is {brief(value)}: expected an integer")
        elif not low <= value <= high:
            self.say(place, f"{brief(value)} is out of range: expected {low} to {high}")
        else:
            return True
        return False

    def expression(self, place: str, e: Any, *special: str) -> None:
        """Well-formed, of names of the scope and the `special` ones. Iterates, because `e` may be anything."""
        stack, names = [(e, 0)], dict[str, None]()
        while stack and self.terms <= MAX_TERMS:
            e, depth = stack.pop()
            self.terms += 1
            if self.terms > MAX_TERMS or depth > expr.MAX_DEPTH:
                deep = f"is nested too deeply: expected at most {expr.MAX_DEPTH} levels"
                many = f"is where all expressions exceed {MAX_TERMS} terms together: expected fewer"
                self.say(place, deep if depth > expr.MAX_DEPTH else many)
                self.comparable = False
                return
            if not isinstance(e, Expr) or not isinstance(e.args, tuple):
                self.say(place, f"{brief(e)} is no expression: expected one of integers and names")
            elif e.op == "name" and len(e.args) == 1 and isinstance(e.args[0], str):
                names[e.args[0]] = None
            elif e.op == "int" and len(e.args) == 1:
                self.integer(place, e.args[0])
            elif OPERATORS.get(e.op) == len(e.args):
                stack += [(operand, depth + 1) for operand in reversed(e.args)]
            else:
                known = (
                    f"{OPERATORS[e.op]} operands" if e.op in OPERATORS else f"one of {' '.join(OPERATORS)}"
                )
                self.say(
                    place, f"{brief(e.op)} with {len(e.args)} operands is no operation: expected {known}"
                )
        for name in names:
            if name not in special and name in _SPECIAL:
                self.say(place, f"{name!r} has no value here: expected it {_SPECIAL[name]}")
            elif name not in special:
                self.refer(place, name, "problem size, tunable or earlier derived name", self.scope)

    # parts

    def parameter(self, place: str, p: Parameter | Tunable) -> None:
        self.define(f"{place}.name", p.name, self.scope, self.sizes)
        self.text(f"{place}.doc", p.doc)
        if not (self.integer(f"{place}.minimum", p.minimum) & self.integer(f"{place}.maximum", p.maximum)):
            self.integer(f"{place}.default", p.default)
        elif p.minimum > p.maximum:
            self.say(f"{place}.minimum", f"{p.minimum} is above the maximum: expected at most {p.maximum}")
        else:
            self.integer(f"{place}.default", p.default, p.minimum, p.maximum)
            if p.labels and (p.minimum < 0 or len(p.labels) != p.maximum + 1):
                self.say(
                    f"{place}.labels",
                    f"has {len(p.labels)} labels for values from {p.minimum} to {p.maximum}: "
                    "expected one for each value from 0 to the maximum",
                )
        labels = _Names()
        for at, label in self.items(f"{place}.labels", p.labels, MAX_ITEMS):
            if label != "":
                self.define(at, label, labels)

    def domain(self, place: str, t: Tunable) -> None:
        bounds = [b for b in (t.minimum, t.maximum) if isinstance(b, int)]
        low, high = bounds if len(bounds) == 2 and bounds[0] <= bounds[1] else (-MAX_VALUE, MAX_VALUE)
        seen = set[int]()
        if not t.domain:
            self.say(place, "is empty: expected at least one value")
        for at, value in self.items(place, t.domain, MAX_DOMAIN):
            if self.integer(at, value, low, high):
                if value in seen:
                    self.say(at, f"{value} stands there already: expected each value once")
                seen.add(value)

    def memory(self) -> None:
        w = self.workload
        for place, b in self.items("buffers", w.buffers, MAX_BUFFERS) + self.items(
            "rings", w.rings, MAX_ITEMS
        ):
            self.refer(f"{place}.core", b.core, "core", PIPES)
            cores = [core for core in PIPES if core == b.core]
            for core in cores:
                self.refer(f"{place}.memory", b.memory, f"memory of {core}", MEMORIES[core])
            names = self.buffers if isinstance(b, Buffer) else self.rings
            shared = [] if isinstance(b, Buffer) else [self.tracks]
            self.define(f"{place}.name", b.name, *shared, *(names[core] for core in cores or PIPES))
            self.expression(f"{place}.bytes", b.bytes, "block")
            if isinstance(b, Buffer):
                self.expression(f"{place}.copies", b.copies, "block")
            else:
                self.expression(f"{place}.slots", b.slots, "block")

    def fifo(self, place: str, fifo: Fifo) -> None:
        self.refer(f"{place}.direction", fifo.direction, "direction", DIRECTIONS)
        ends = [
            names
            for (core, producer), names in self.ends.items()
            if fifo.direction not in DIRECTIONS or (fifo.direction == "C2V") == ((core == "AIC") == producer)
        ]
        self.define(f"{place}.name", fifo.name, self.tracks, *ends)
        for part in ("slot_bytes", "slot_num", "sync_period", "local_slot_num", "split", "tile_bytes"):
            self.expression(f"{place}.{part}", getattr(fifo, part), "block")
        self.integer(f"{place}.flag_id", fifo.flag_id, 0, MAX_FLAG_ID)
        for part in ("slot_num_name", "sync_period_name"):
            if getattr(fifo, part) != "":
                self.refer(f"{place}.{part}", getattr(fifo, part), "problem size or tunable", self.sizes)

    def programs(self) -> None:
        programs = self.workload.programs
        cores = [core for core, _ in programs]
        if not programs or (self.workload.fifos and len(cores) < len(PIPES)):
            why = "a FIFO needs both" if programs else "expected one"
            missing = _one_of(core for core in PIPES if core not in cores)
            self.say("programs", f"there is no program of {missing}: {why}")
        for i, (core, body) in enumerate(programs):
            self.refer("programs", core, "core", PIPES)
            if core in cores[:i]:
                self.say("programs", f"{brief(core)} stands there twice: expected a core once")
            elif core in tuple(PIPES):
                self.program(f"programs.{core}", core, body)

    def program(self, place: str, core: str, body: tuple[Node, ...]) -> None:
        """The nodes, then what refers to labels and events from anywhere in the program."""
        complete = not any(unread.startswith(place) for unread in self.unread)
        self.events, self.labels = _Names(), dict[str, tuple[str, Instr]]()
        self.events.complete = complete
        self.waits, self.unit_flags = list[tuple[str, Any]](), list[tuple[str, Any]]()
        self.steady = 0
        self.body(place, core, body, 0)
        for at, event in self.waits:
            self.refer(at, event, f"event of {core}", self.events)
        for at, pair in self.unit_flags:
            if not isinstance(pair, tuple) or len(pair) != 2:
                self.say(at, f"is {brief(pair)}: expected the labels of a matmul and of its drain")
                continue
            known = [
                self.labels[label][1] for label in pair if isinstance(label, str) and label in self.labels
            ]
            for i, label in enumerate(pair):
                if complete or not isinstance(label, str):
                    what = f"label of an instruction of {core} with costs"
                    self.refer(f"{at}[{i}]", label, what, self.labels)
            if len(known) == 2 and not any(c.model == "drain" for node in known for c in node.costs):
                self.say(at, "names no instruction with a drain: expected a matmul and its drain")

    def body(self, place: str, core: str, body: tuple[Node, ...], loops: int) -> None:
        for i, node in enumerate(body):
            at = f"{place}[{i}]"
            self.nodes += 1
            if self.nodes > MAX_NODES:
                if self.nodes == MAX_NODES + 1:
                    self.say("programs", f"have more than {MAX_NODES} nodes: expected fewer, with loops")
                return
            match node:
                case Instr():
                    self.instr(at, core, node)
                case Loop():
                    self.loop(at, core, node, loops)
                case Talloc(fifo) | Tpush(fifo):
                    self.refer(f"{at}.fifo", fifo, f"FIFO that {core} fills", self.ends[core, True])
                case Tpop(fifo) | Tfree(fifo):
                    self.refer(f"{at}.fifo", fifo, f"FIFO that {core} empties", self.ends[core, False])
                case _:
                    self.say(at, f"{brief(node)} is no node: expected {_one_of(_KINDS)}")

    def loop(self, place: str, core: str, node: Loop, loops: int) -> None:
        if loops == MAX_LOOPS:
            self.say(place, f"loops are nested too deeply: expected at most {MAX_LOOPS} levels")
            return
        self.flag(f"{place}.steady", node.steady)
        self.steady += node.steady is True
        if node.steady is True and (loops or self.steady > 1):
            self.say(
                f"{place}.steady", "is true: expected so of one loop at most, at top level of the program"
            )
        self.expression(f"{place}.trips", node.trips, "block")
        self.body(f"{place}.body", core, node.body, loops + 1)

    def instr(self, place: str, core: str, node: Instr) -> None:
        self.name(f"{place}.name", node.name)
        self.refer(f"{place}.pipe", node.pipe, f"pipe of {core}", PIPES[core])
        self.integer(f"{place}.issues", node.issues, 1)
        for at, cost in self.items(f"{place}.costs", node.costs, MAX_ITEMS):
            self.cost(at, cost)
        for part in ("acquires", "takes", "publishes", "releases"):
            for at, token in self.items(f"{place}.{part}", getattr(node, part), MAX_ITEMS):
                if isinstance(token, Token) and token.unit_flag is not None:
                    self.unit_flags.append((f"{at}.unit_flag", token.unit_flag))
                buffer = token.buffer if isinstance(token, Token) else token
                self.refer(at, buffer, f"buffer of {core}", self.buffers[core])
        for part, producer in (("writes", True), ("reads", False)):
            what = f"FIFO that {core} {'fills' if producer else 'empties'} or ring of {core}"
            for at, track in self.items(f"{place}.{part}", getattr(node, part), MAX_ITEMS):
                self.refer(at, track, what, self.ends[core, producer], self.rings[core])
        self.waits += self.items(f"{place}.waits", node.waits, MAX_ITEMS)
        if node.event != "":
            self.name(f"{place}.event", node.event)
            self.events.setdefault(str(node.event), place)
        if node.label != "":
            self.label(f"{place}.label", node)

    def label(self, place: str, node: Instr) -> None:
        """A label is one duration, so whatever has it costs the same."""
        self.name(place, node.label)
        if not isinstance(node.label, str) or not node.costs:
            return
        at, first = self.labels.setdefault(node.label, (place, node))
        if self.comparable and (first.pipe != node.pipe or first.costs != node.costs):
            self.say(place, f"{brief(node.label)} has other costs or another pipe at {at}: expected the same")

    def cost(self, place: str, cost: Cost) -> None:
        self.refer(f"{place}.model", cost.model, "cost model", MODELS)
        if not isinstance(cost.model, str) or cost.model not in MODELS:
            return
        known, given = MODELS[cost.model], [key for key, _ in cost.args]
        for key in known:
            if given.count(key) != 1:
                times = "is missing" if key not in given else "stands there twice"
                self.say(f"{place}.{key}", f"{times}: expected {', '.join(known)} once each")
        for key, value in cost.args:
            if key not in known:
                self.say(place, f"{cost.model} has no argument {brief(key)}: expected {', '.join(known)}")
            elif key == "path":
                self.refer(f"{place}.path", value, "DMA path", _dma_paths())
            elif key == "family":
                self.name(f"{place}.family", value)
            else:
                self.expression(f"{place}.{key}", value, "block", "sub")

    def rules(self) -> None:
        names = _Names()
        for place, rule in self.items("rules", self.workload.rules, MAX_ITEMS):
            self.define(f"{place}.name", rule.name, names, marks="_-")
            for part in ("ok", "value", "limit", "nearest"):
                if part != "nearest" or rule.nearest is not None:
                    self.expression(f"{place}.{part}", getattr(rule, part), "block")
            self.text(f"{place}.sentence", rule.sentence)
            if isinstance(rule.sentence, str):
                self.sentence(f"{place}.sentence", rule)

    def sentence(self, place: str, rule: Rule) -> None:
        """Only plain fields: `str.format` would otherwise reach attributes, and widths of gigabytes."""
        allowed = {"{value}", "{limit}"} | ({"{nearest}"} if rule.nearest is not None else set())
        for text in re.findall(r"\{[^{}]*\}|[{}]", rule.sentence):
            if text not in allowed:
                self.say(place, f"{brief(text)} is no field: expected {_one_of(sorted(allowed))}")


def _dma_paths() -> tuple[str, ...]:
    from cost_models.dma import PATHS  # brings NumPy

    return PATHS
