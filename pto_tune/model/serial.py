"""Workloads as JSON, and the check that a workload holds together.

Everything is data: nodes are objects with their fields under the names of `pto_tune.model.nodes` (those that
have their default value may be left out), expressions are nested lists, programs an object by core. A node
says by `kind` what it is: instr, loop, talloc, tpush, tpop or tfree. The arguments of a cost stand beside its
`model`; a token without unit flag is the buffer's name. An instruction `issues` one for each cost by default.

Reading has two parts. The reader builds the workload and reports what it cannot build: lists, objects, keys
and expressions. The check looks at every value in the result and skips what the reader has reported; it
serves workloads built in Python just as well. The annotations of the nodes tell both what a field is.

The limits keep a document from strangers small enough to read and to evaluate; no hardware has them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from pto_tune.lowering.costs import MODELS
from pto_tune.model import expr, nodes
from pto_tune.model.expr import MAX_VALUE, OPERATORS, Expr, brief, one_of
from pto_tune.model.nodes import DIRECTIONS, MEMORIES, PIPES, Cost, Instr, Loop, Token, Workload

FORMAT = "pto-tune-workload/1"
MAX_BYTES = 8 * 2**20  # of a document
MAX_NODES = 10_000  # of all programs
MAX_TERMS = 100_000  # names, integers and operators of all expressions
MAX_LOOPS = 16  # levels
MAX_BUFFERS = 64
MAX_FIFOS = 16
MAX_DOMAIN = 4096  # values of a tunable
MAX_ITEMS = 256  # of every other list
MAX_NAME = 64  # characters
MAX_TEXT = 1000  # characters of a description
MAX_SHOWN = 100  # errors in a message

_BOUNDS = {"issues": (1, MAX_VALUE), "flag_id": (0, 255)}  # FlagID is a uint8_t of TPipe
_SPECIAL = {"block": "anywhere but in the launch", "sub": "in costs only"}
_TEXT_ARGS = ("path", "family")
_KINDS = {cls.__name__.lower(): cls for cls in nodes.Node.__args__}
_RECORDS: dict[str, Any] = {name: cls for name, cls in vars(nodes).items() if is_dataclass(cls)}
_UNREAD: tuple[Any, ...] = ()  # for what the reader could not read; of no type that the check would accept


class WorkloadError(ValueError):
    """A workload is malformed: one sentence a line, each with its place."""


def _raise(sentences: Sequence[str]) -> None:
    """WorkloadError with the sentences, if there are any."""
    if sentences:
        more = len(sentences) - MAX_SHOWN
        rest = [f"... and {more} more errors"] if more > 0 else []
        raise WorkloadError("\n".join([*sentences[:MAX_SHOWN], *rest]))


def to_dict(workload: Workload) -> dict[str, Any]:
    """The workload as objects, lists, texts and integers of JSON. WorkloadError as `check` finds them."""
    _raise(check(workload))
    return {"format": FORMAT, **_plain(workload)}


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
    _raise(reader.faults + _Check(workload, reader.unread).run())
    return workload


def from_json(text: str) -> Workload:
    """Read JSON text. WorkloadError has all errors, or only the first where the text is not JSON."""
    if len(text) > MAX_BYTES:
        raise WorkloadError(f"workload: has {len(text)} characters: expected at most {MAX_BYTES}")
    try:
        data = json.loads(text, object_pairs_hook=_Object)
    except json.JSONDecodeError as e:
        at = f"line {e.lineno}, column {e.colno}"
        raise WorkloadError(f"workload: {at} is no JSON ({e.msg}): expected JSON") from None
    except (RecursionError, ValueError):  # Python's own limits on depth and on the digits of an integer
        raise WorkloadError("workload: is too deep, or a number too long: expected a workload") from None
    return from_dict(data)


def load(path: str | Path) -> Workload:
    """Read a UTF-8 file of at most `MAX_BYTES`. WorkloadError names the file in each line."""
    try:
        with Path(path).open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise WorkloadError(f"workload: is too long: expected at most {MAX_BYTES} bytes")
        return from_json(raw.decode("utf-8-sig"))
    except WorkloadError as e:
        faults = str(e).split("\n")
    except UnicodeDecodeError as e:
        faults = [f"workload: byte {e.start} is not UTF-8: expected UTF-8 text"]
    except (OSError, ValueError) as e:  # ValueError: a path with a null byte
        faults = [f"workload: cannot be read ({getattr(e, 'strerror', e)}): expected a file"]
    raise WorkloadError("\n".join(f"{path}: {fault}" for fault in faults))


def check(workload: Workload) -> list[str]:
    """What is wrong with a workload: one sentence an error, with its place in the JSON form.

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
    """A part of a workload as JSON has it."""
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
    kind = type(value).__name__.lower()
    plain: dict[str, Any] = {"kind": kind} if kind in _KINDS else {}
    for field in fields(value):
        v = getattr(value, field.name)
        if v == _default(field, value.costs if isinstance(value, Instr) else ()):
            continue
        if isinstance(value, Workload) and field.name == "programs":
            plain["programs"] = {core: _plain(body) for core, body in v}
        elif isinstance(value, Workload) and field.name == "derived":
            plain["derived"] = [_plain(_Derived(*pair)) for pair in v]
        else:
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

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.twice = [key for key, n in Counter(key for key, _ in pairs).items() if n > 1]


class _Reader:
    """Builds nodes out of JSON values. Texts and numbers are taken as they are: the check looks at them."""

    def __init__(self) -> None:
        self.faults, self.loops = list[str](), 0
        self.unread = set[str]()  # places where nothing could be read

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
                self.faults.append(f"{place}: unknown key {brief(key)}: expected {one_of(known)}")
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
            else:
                values[name] = _UNREAD if default is MISSING else default
                if read and default is MISSING:
                    self.fault(at, "is missing: expected a value")
        return cls(**values)

    def value(self, kind: str, data: Any, place: str) -> Any:
        """What the annotation `kind` asks for."""
        if data is None and kind.endswith(" | None"):
            return None
        kind = kind.removesuffix(" | None")
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
                pairs = data.items() if self.keys(data, place) else ()
                return tuple((c, self.each("Node", b, f"{place}.{c}") if c in PIPES else ()) for c, b in pairs)
        if kind in _RECORDS:
            return self.record(_RECORDS[kind], data, place)
        if kind.startswith("tuple["):
            return self.each(kind.removeprefix("tuple[").removesuffix(", ...]"), data, place)
        return data

    def each(self, kind: str, data: Any, place: str) -> tuple[Any, ...]:
        if not isinstance(data, list):
            self.fault(place, f"is {brief(data)}: expected a list")
            return _UNREAD
        some = data[: MAX_NODES + 1]  # more than any list may have
        return tuple(self.value(kind, item, f"{place}[{i}]") for i, item in enumerate(some))

    def expression(self, data: Any, place: str) -> Expr:
        before = len(self.faults)
        e = expr.read(data, place, self.faults)
        if len(self.faults) > before:
            self.unread.add(place)
        return e

    def node(self, data: Any, place: str) -> Any:
        kind = data.get("kind", _UNREAD) if isinstance(data, dict) else _UNREAD
        if not isinstance(kind, str) or kind not in _KINDS:
            what = f"is {brief(data)}" if kind is _UNREAD else f"{brief(kind)} is no kind of node"
            self.fault(place, f"{what}: expected an object whose 'kind' is {one_of(_KINDS)}")
            return _UNREAD
        if kind == "loop" and self.loops == MAX_LOOPS:
            self.fault(place, f"loops are nested too deeply: expected at most {MAX_LOOPS} levels")
            return _UNREAD
        self.loops += kind == "loop"
        node = self.record(_KINDS[kind], data, place, own="kind")
        self.loops -= kind == "loop"
        return node

    def cost(self, data: Any, place: str) -> Cost:
        args = dict(data) if self.keys(data, place) else {}
        if args and "model" not in args:
            self.fault(f"{place}.model", f"is missing: expected {one_of(MODELS)}")
        model: Any = args.pop("model", _UNREAD)
        for key in MODELS.get(model, ()) if isinstance(model, str) else ():
            if key in args and key not in _TEXT_ARGS:
                args[key] = self.expression(args[key], f"{place}.{key}")
        return Cost(model, tuple(args.items()))


# checking


class _Names(dict[str, str]):
    """Names that are defined, and where; `complete` unless a definition at one of `places` is unread."""

    def __init__(self, unread: Collection[str] = (), *places: str) -> None:
        super().__init__()
        self.complete = not any(place in unread for place in places)


class _Check:
    """Collects what is wrong, but not at `unread` places, nor with names that may be defined there."""

    def __init__(self, workload: Workload, unread: set[str]) -> None:
        self.workload, self.unread, self.faults = workload, unread, list[str]()
        self.sizes = _Names(unread, "problem", "tunables")
        self.scope = _Names(unread, "problem", "tunables", "derived")
        self.tracks = _Names(unread, "rings", "fifos")
        self.buffers = {core: _Names(unread, "buffers") for core in PIPES}
        self.rings = {core: _Names(unread, "rings") for core in PIPES}
        self.ends = {(core, fills): _Names(unread, "fifos") for core in PIPES for fills in (True, False)}
        self.nodes, self.terms, self.comparable = 0, 0, True  # comparable: expressions are shallow and few

    def run(self) -> list[str]:
        w = self.workload
        self.name("name", w.name)
        self.text("doc", w.doc)
        for place, p in self.items("problem", w.problem) + self.items("tunables", w.tunables):
            self.parameter(place, p)
        for place, (name, value) in self.items("derived", w.derived):
            self.expression(f"{place}.value", value, "block")
            self.define(f"{place}.name", name, self.scope)
        for place, b in self.items("buffers", w.buffers, MAX_BUFFERS):
            self.memory(place, b, self.buffers)
        for place, r in self.items("rings", w.rings):
            self.memory(place, r, self.rings, self.tracks)
        for place, fifo in self.items("fifos", w.fifos, MAX_FIFOS):
            self.fifo(place, fifo)
        self.programs()
        self.leaves("launch", w.launch)
        self.leaves("", w, "block")
        rules = _Names()
        for place, rule in self.items("rules", w.rules):
            self.define(f"{place}.name", rule.name, rules, marks="_-")
            self.leaves(place, rule, "block")
            self.sentence(f"{place}.sentence", rule)
        return self.faults

    def say(self, place: str, sentence: str) -> None:
        at = place
        while at and at not in self.unread:
            at = at[: max(at.rfind("."), at.rfind("["), 0)]
        if not at:
            self.faults.append(f"{place}: {sentence}")

    def items(self, place: str, items: Sequence[Any], most: int = MAX_ITEMS) -> list[tuple[str, Any]]:
        """The entries with their places, as many as there may be."""
        if len(items) > most:
            self.say(place, f"has too many entries: expected at most {most}")
        return [(f"{place}[{i}]", item) for i, item in enumerate(items[:most])]

    def leaves(self, place: str, record: Any, *special: str) -> bool:
        """The numbers, flags and expressions among the fields of a record; whether the numbers are right."""
        right = True
        for field in fields(record) if is_dataclass(record) else ():
            at, value = f"{place}.{field.name}" if place else field.name, getattr(record, field.name)
            if field.type == "int":
                right &= self.integer(at, value, *_BOUNDS.get(field.name, ()))
            elif field.type == "bool" and not isinstance(value, bool):
                self.say(at, f"is {brief(value)}: expected true or false")
            elif field.type == "Expr" or (field.type == "Expr | None" and value is not None):
                self.expression(at, value, *special)
        return right

    def integer(self, place: str, value: Any, low: int = -MAX_VALUE, high: int = MAX_VALUE) -> bool:
        if isinstance(value, bool) or not isinstance(value, int):
            self.say(place, f"is {brief(value)}: expected an integer")
        elif not low <= value <= high:
            self.say(place, f"{brief(value)} is out of range: expected {low} to {high}")
        else:
            return True
        return False

    def text(self, place: str, value: Any) -> None:
        if not (isinstance(value, str) and len(value) <= MAX_TEXT and value.isprintable()):
            self.say(place, f"{brief(value)} is no text: expected one line of at most {MAX_TEXT} characters")

    def name(self, place: str, value: Any, marks: str = "_") -> None:
        if isinstance(value, str) and re.fullmatch(f"[A-Za-z][A-Za-z0-9{marks}]{{,{MAX_NAME - 1}}}", value):
            return
        rule = f"a letter, then letters, digits or {' '.join(marks)}, at most {MAX_NAME} characters"
        self.say(place, f"{brief(value)} is no name: expected {rule}")

    def define(self, place: str, name: Any, *scopes: _Names, marks: str = "_") -> None:
        """A name that is new in the first scope."""
        self.name(place, name, marks)
        if isinstance(name, str) and scopes[0] is self.scope and name in _SPECIAL:
            self.say(place, f"{name!r} is reserved: expected another name")
        elif isinstance(name, str) and name in scopes[0]:
            self.say(place, f"{brief(name)} is taken by {scopes[0][name]}: expected another name")
        for scope in scopes:
            if isinstance(name, str):
                scope.setdefault(name, place)
            else:
                scope.complete = False

    def refer(self, place: str, name: Any, what: str, *known: Collection[str]) -> None:
        """A name out of one of the collections."""
        complete = all(getattr(names, "complete", True) for names in known)
        if isinstance(name, str) and (not complete or any(name in names for names in known)):
            return
        expected = f"expected {one_of(chain(*known))}" if any(known) else "there is none"
        self.say(place, f"{brief(name)} is no {what}: {expected}")

    def expression(self, place: str, e: Any, *special: str) -> None:
        """Well-formed, of names of the scope and the `special` ones. Iterates: `e` may be any graph."""
        stack, names = [(e, 0)], dict[str, None]()
        while stack and self.terms <= MAX_TERMS:
            e, depth = stack.pop()
            self.terms += 1
            if depth > expr.MAX_DEPTH:
                self.say(place, f"is nested too deeply: expected at most {expr.MAX_DEPTH} levels")
                self.comparable = False
                return
            if not isinstance(e, Expr):
                self.say(place, f"{brief(e)} is no expression: expected one of integers and names")
            elif e.op == "name" and len(e.args) == 1 and isinstance(e.args[0], str):
                names[e.args[0]] = None
            elif e.op == "int" and len(e.args) == 1:
                self.integer(place, e.args[0])
            elif OPERATORS.get(e.op) == len(e.args):
                stack += [(operand, depth + 1) for operand in reversed(e.args)]
            else:
                right = ", ".join(f"{op} of {n}" for op, n in OPERATORS.items())
                self.say(place, f"{brief(e.op)} of {len(e.args)} is no operation: expected {right}")
        if stack and self.comparable:
            self.say(place, f"brings all expressions above {MAX_TERMS} terms: expected fewer")
            self.comparable = False
        for name in names:
            if name not in special and name in _SPECIAL:
                self.say(place, f"{name!r} has no value here: expected it {_SPECIAL[name]}")
            elif name not in special:
                self.refer(place, name, "problem size, tunable or earlier derived name", self.scope)

    def parameter(self, place: str, p: nodes.Parameter | nodes.Tunable) -> None:
        self.define(f"{place}.name", p.name, self.scope, self.sizes)
        self.text(f"{place}.doc", p.doc)
        low, high = -MAX_VALUE, MAX_VALUE
        if self.leaves(place, p):
            low, high = p.minimum, p.maximum
            if low > high:
                self.say(f"{place}.minimum", f"{low} is above the maximum: expected at most {high}")
            elif not low <= p.default <= high:
                self.say(f"{place}.default", f"{p.default} is out of range: expected {low} to {high}")
            if p.labels and (low < 0 or len(p.labels) != high + 1):
                has = f"has {len(p.labels)} labels for values from {low} to {high}"
                self.say(f"{place}.labels", f"{has}: expected one for each value from 0 to the maximum")
        labels = _Names()
        for at, label in self.items(f"{place}.labels", p.labels):
            if label != "":
                self.define(at, label, labels)
        if isinstance(p, nodes.Tunable):
            domain = self.items(f"{place}.domain", p.domain, MAX_DOMAIN)
            values = [value for at, value in domain if self.integer(at, value, low, high)]
            if not p.domain or len(set(values)) < len(values):
                self.say(f"{place}.domain", "is empty or repeats a value: expected one or more, each once")

    def memory(self, place: str, m: Any, by_core: dict[str, _Names], *shared: _Names) -> None:
        """A buffer or ring. It may be of any core where the core is none."""
        self.refer(f"{place}.core", m.core, "core", PIPES)
        cores = [core for core in PIPES if core == m.core]
        for core in cores:
            self.refer(f"{place}.memory", m.memory, f"memory of {core}", MEMORIES[core])
        self.define(f"{place}.name", m.name, *shared, *(by_core[core] for core in cores or PIPES))
        self.leaves(place, m, "block")

    def fifo(self, place: str, fifo: nodes.Fifo) -> None:
        self.refer(f"{place}.direction", fifo.direction, "direction", DIRECTIONS)
        ways = [fifo.direction] if fifo.direction in DIRECTIONS else DIRECTIONS
        ends = [self.ends[end] for d in ways for end in (("AIC", d == "C2V"), ("AIV", d == "V2C"))]
        self.define(f"{place}.name", fifo.name, self.tracks, *ends)
        self.leaves(place, fifo, "block")
        for part in ("slot_num_name", "sync_period_name"):
            if getattr(fifo, part) != "":
                self.refer(f"{place}.{part}", getattr(fifo, part), "problem size or tunable", self.sizes)

    def programs(self) -> None:
        programs = self.workload.programs
        cores = [core for core, _ in programs]
        missing = [core for core in PIPES if core not in cores]
        if not programs or (self.workload.fifos and missing):
            self.say("programs", f"there is none of {one_of(missing)}: expected one, and both with a FIFO")
        for i, (core, body) in enumerate(programs):
            self.refer("programs", core, "core", PIPES)
            if core in cores[:i]:
                self.say("programs", f"{brief(core)} stands there twice: expected a core once")
            elif core in cores and core in tuple(PIPES):
                self.program(f"programs.{core}", core, body)

    def program(self, place: str, core: str, body: Sequence[nodes.Node]) -> None:
        """The nodes, then what refers to events and labels from anywhere in the program."""
        self.events, self.labels, self.labelled, self.steady = _Names(), _Names(), dict[str, Instr](), 0
        self.events.complete = self.labels.complete = not any(at.startswith(place) for at in self.unread)
        self.waits, self.pairs = list[tuple[str, Any]](), list[tuple[str, Any]]()
        self.body(place, core, body, 0)
        for at, event in self.waits:
            self.refer(at, event, f"event of {core}", self.events)
        for at, pair in self.pairs:
            if len(pair) != 2:
                self.say(at, f"has {len(pair)} labels: expected those of a matmul and of its drain")
            for i, label in enumerate(pair):
                self.refer(f"{at}[{i}]", label, f"label of an instruction of {core} with costs", self.labels)
            costs = [self.labelled[x].costs for x in pair if isinstance(x, str) and x in self.labelled]
            if len(costs) == 2 and not any(cost.model == "drain" for cost in costs[0] + costs[1]):
                self.say(at, "names no instruction with a drain: expected a matmul and its drain")

    def body(self, place: str, core: str, body: Sequence[nodes.Node], loops: int) -> None:
        for i, node in enumerate(body):
            at = f"{place}[{i}]"
            self.nodes += 1
            if self.nodes == MAX_NODES + 1:
                self.say("programs", f"have more than {MAX_NODES} nodes: expected fewer, with loops")
            if self.nodes > MAX_NODES:
                return
            match node:
                case Instr():
                    self.instr(at, core, node)
                case Loop():
                    self.loop(at, core, node, loops)
                case nodes.Talloc(fifo) | nodes.Tpush(fifo):
                    self.refer(f"{at}.fifo", fifo, f"FIFO that {core} fills", self.ends[core, True])
                case nodes.Tpop(fifo) | nodes.Tfree(fifo):
                    self.refer(f"{at}.fifo", fifo, f"FIFO that {core} empties", self.ends[core, False])
                case _:
                    self.say(at, f"{brief(node)} is no node: expected {one_of(_KINDS)}")

    def loop(self, place: str, core: str, node: Loop, loops: int) -> None:
        if loops == MAX_LOOPS:
            self.say(place, f"loops are nested too deeply: expected at most {MAX_LOOPS} levels")
            return
        self.leaves(place, node, "block")
        self.steady += node.steady is True
        if node.steady is True and (loops or self.steady > 1):
            self.say(f"{place}.steady", "is true: expected it of one loop of a program, at top level")
        self.body(f"{place}.body", core, node.body, loops + 1)

    def instr(self, place: str, core: str, node: Instr) -> None:
        self.name(f"{place}.name", node.name)
        self.refer(f"{place}.pipe", node.pipe, f"pipe of {core}", PIPES[core])
        self.leaves(place, node)
        for at, cost in self.items(f"{place}.costs", node.costs):
            self.cost(at, cost)
        for part in ("acquires", "takes"):
            for at, buffer in self.items(f"{place}.{part}", getattr(node, part)):
                self.refer(at, buffer, f"buffer of {core}", self.buffers[core])
        for part in ("publishes", "releases"):
            for at, token in self.items(f"{place}.{part}", getattr(node, part)):
                where = at if token.unit_flag is None and isinstance(token.buffer, str) else f"{at}.buffer"
                self.refer(where, token.buffer, f"buffer of {core}", self.buffers[core])
                self.pairs += [] if token.unit_flag is None else [(f"{at}.unit_flag", token.unit_flag)]
        for part, fills in (("writes", True), ("reads", False)):
            what = f"ring of {core} or FIFO that {core} {'fills' if fills else 'empties'}"
            for at, track in self.items(f"{place}.{part}", getattr(node, part)):
                self.refer(at, track, what, self.ends[core, fills], self.rings[core])
        self.waits += self.items(f"{place}.waits", node.waits)
        if node.event != "":
            self.define(f"{place}.event", node.event, _Names(), self.events)
        if node.label != "":
            self.label(f"{place}.label", node)

    def label(self, place: str, node: Instr) -> None:
        """A label names one duration, so whatever has it costs the same."""
        self.define(place, node.label, _Names(), *([self.labels] if node.costs else []))
        if node.costs and isinstance(node.label, str):
            first = self.labelled.setdefault(node.label, node)
            if self.comparable and (first.pipe, first.costs) != (node.pipe, node.costs):
                at, what = self.labels[node.label], brief(node.label)
                self.say(place, f"{what} has another pipe or other costs at {at}: expected the same")

    def cost(self, place: str, cost: Cost) -> None:
        self.refer(f"{place}.model", cost.model, "cost model", MODELS)
        known = MODELS.get(cost.model, ()) if isinstance(cost.model, str) else ()
        given = [key for key, _ in cost.args]
        for key in known:
            if given.count(key) != 1:
                self.say(f"{place}.{key}", f"stands there {given.count(key)} times: expected it once")
        for key, value in cost.args if known else ():
            if key not in known:
                self.say(place, f"{cost.model} has no argument {brief(key)}: expected {one_of(known)}")
            elif key == "path":
                from cost_models.dma import PATHS  # brings NumPy

                self.refer(f"{place}.path", value, "DMA path", PATHS)
            elif key == "family":
                self.name(f"{place}.family", value)
            else:
                self.expression(f"{place}.{key}", value, "block", "sub")

    def sentence(self, place: str, rule: nodes.Rule) -> None:
        """Only plain fields: `str.format` would otherwise reach attributes, and pad to gigabytes."""
        self.text(place, rule.sentence)
        allowed = ["{value}", "{limit}"] + ([] if rule.nearest is None else ["{nearest}"])
        text = rule.sentence[:MAX_TEXT] if isinstance(rule.sentence, str) else ""
        for found in re.findall(r"\{[^{}]*\}|[{}]", text):
            if found not in allowed:
                self.say(place, f"{brief(found)} is no field: expected {one_of(allowed)}")
