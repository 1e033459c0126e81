"""Workloads as JSON.

Everything is data: nodes are objects with their fields under the names of `pto_tune.model.nodes` (those that
have their default value may be left out), expressions are nested lists, programs an object by core. A node
says by `kind` what it is, the name of its class in small letters: instr, loop, tpush, tput and so on. The arguments of
a cost stand beside its `model`; a token without unit flag is the buffer's name. An instruction `issues` one for each
cost by default. A view of signals is a list of [count, stride] pairs.

Reading has two parts. The reader builds the workload and reports what it cannot build: lists, objects, keys
and expressions. The check (`pto_tune.model.check`) looks at every value in the result and skips what the reader
has reported. The annotations of the nodes tell both what a field is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from pto_tune.lowering.costs import MODELS
from pto_tune.model import expr, nodes
from pto_tune.model.check import Check, check
from pto_tune.model.check_programs import KINDS, TEXT_ARGS
from pto_tune.model.check_values import MAX_LOOPS, MAX_NODES
from pto_tune.model.expr import Expr, brief, one_of
from pto_tune.model.nodes import PIPES, Cost, Instr, Token, Workload

__all__ = ["FORMAT", "MAX_BYTES", "WorkloadError", "check", "from_dict", "from_json", "load", "to_dict", "to_json"]

FORMAT = "pto-tune-workload/1"
MAX_BYTES = 8 * 2**20  # of a document
MAX_SHOWN = 100  # errors in a message

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
    _raise(reader.faults + Check(workload, reader.unread).run())
    return workload


def from_json(text: str) -> Workload:
    """Read JSON text. WorkloadError has all errors, or only the first where the text is not JSON."""
    if len(text) > MAX_BYTES:
        raise WorkloadError(f"workload: has {len(text)} characters: expected at most {MAX_BYTES}")
    try:
        data = json.loads(text, object_pairs_hook=_object)
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
    plain: dict[str, Any] = {"kind": kind} if kind in KINDS else {}
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


class _Repeating(dict[str, Any]):
    """An object of JSON in which keys stand more than once."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.twice = [key for key, n in Counter(key for key, _ in pairs).items() if n > 1]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON: a plain one where no key repeats, since a document may have a million of them."""
    plain = dict(pairs)
    return plain if len(plain) == len(pairs) else _Repeating(pairs)


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
            case "tuple[Expr, Expr]":
                return self.each("Expr", data, place)
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
        if not isinstance(kind, str) or kind not in KINDS:
            what = f"is {brief(data)}" if kind is _UNREAD else f"{brief(kind)} is no kind of node"
            self.fault(place, f"{what}: expected an object whose 'kind' is {one_of(KINDS)}")
            return _UNREAD
        is_loop = kind in ("loop", "while")
        if is_loop and self.loops == MAX_LOOPS:
            self.fault(place, f"loops are nested too deeply: expected at most {MAX_LOOPS} levels")
            return _UNREAD
        self.loops += is_loop
        node = self.record(KINDS[kind], data, place, own="kind")
        self.loops -= is_loop
        return node

    def cost(self, data: Any, place: str) -> Cost:
        args = dict(data) if self.keys(data, place) else {}
        if args and "model" not in args:
            self.fault(f"{place}.model", f"is missing: expected {one_of(MODELS)}")
        model: Any = args.pop("model", _UNREAD)
        for key in MODELS.get(model, ()) if isinstance(model, str) else ():
            if key in args and key not in TEXT_ARGS:
                args[key] = self.expression(args[key], f"{place}.{key}")
        return Cost(model, tuple(args.items()))
