"""What every part of a workload is checked for: names, texts, numbers, expressions and the lengths of lists.

The limits keep a document from strangers small enough to read and to evaluate; no hardware has them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import Any

from pto_tune.model import expr
from pto_tune.model.expr import MAX_VALUE, OPERATORS, Expr, brief, one_of

MAX_NODES = 10_000  # of all programs
MAX_TERMS = 100_000  # names, integers and operators of all expressions
MAX_LOOPS = 16  # levels
MAX_BUFFERS = 64
MAX_FIFOS = 16
MAX_DOMAIN = 4096  # values of a tunable
MAX_ITEMS = 256  # of every other list
MAX_NAME = 64  # characters
MAX_TEXT = 1000  # characters of a description

SPECIAL = {
    "block": "anywhere but in the launch, the ranks and the signals",
    "sub": "in programs only",
    "rank": "in programs only",
    "on_a5": "in rules only",
}
"""Names that the executor or the legality rules give a value, and where they have one. A workload without ranks may
have a size `rank`."""

VARIABLE_FIELDS = ("trips", "condition", "most", "peer", "at", "value")
"""Fields of nodes, apart from views, that may use the scalar variables of the program."""

_BOUNDS = {"issues": (1, MAX_VALUE), "flag_id": (0, 255)}  # FlagID is a uint8_t of TPipe


class Names(dict[str, str]):
    """Names that are defined, and where; `complete` unless a definition at one of `places` is unread."""

    def __init__(self, unread: Collection[str] = (), *places: str) -> None:
        super().__init__()
        self.complete = not any(place in unread for place in places)


class Values:
    """Collects in `faults` what is wrong, but not at `unread` places, nor with names that may be defined there.

    `scope` has the names that expressions may use, `sizes` those of problem sizes and tunables alone, `variables` those
    that the program at hand sets. `ranked`: the workload has ranks; `needing_ranks` is the first place that needs them.
    """

    def __init__(self, unread: Collection[str]) -> None:
        self.unread, self.faults = unread, list[str]()
        self.sizes = Names(unread, "problem", "tunables")
        self.scope = Names(unread, "problem", "tunables", "derived")
        self.variables, self.ranked, self.needing_ranks = Names(), False, ""
        self.terms, self.comparable = 0, True  # comparable: expressions are shallow and few

    def say(self, place: str, sentence: str) -> None:
        at = place
        while at and at not in self.unread:
            at = at[: max(at.rfind("."), at.rfind("["), 0)]
        if not at:
            self.faults.append(f"{place}: {sentence}")

    def needs_ranks(self, place: str) -> None:
        self.needing_ranks = self.needing_ranks or place

    def items(self, place: str, items: Sequence[Any], most: int = MAX_ITEMS) -> list[tuple[str, Any]]:
        """The entries with their places, as many as there may be."""
        if len(items) > most:
            self.say(place, f"has too many entries: expected at most {most}")
        return [(f"{place}[{i}]", item) for i, item in enumerate(items[:most])]

    def leaves(
        self, place: str, record: Any, *special: str, local: Collection[str] = (), but: Collection[str] = ()
    ) -> bool:
        """The numbers, flags and expressions among the fields of a record, `but` for some; whether the numbers are
        right. The variables `local` may be used in `VARIABLE_FIELDS`."""
        right = True
        for field in fields(record) if is_dataclass(record) else ():
            at, value = f"{place}.{field.name}" if place else field.name, getattr(record, field.name)
            if field.name in but or (value is None and str(field.type).endswith(" | None")):
                continue
            if field.type == "int":
                right &= self.integer(at, value, *_BOUNDS.get(field.name, ()))
            elif field.type in ("bool", "bool | None") and not isinstance(value, bool):
                self.say(at, f"is {brief(value)}: expected true or false")
            elif field.type in ("Expr", "Expr | None"):
                self.expression(at, value, *special, local=local if field.name in VARIABLE_FIELDS else ())
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

    def define(self, place: str, name: Any, *scopes: Names, marks: str = "_") -> None:
        """A name that is new in the first scope."""
        self.name(place, name, marks)
        if isinstance(name, str) and scopes[0] is self.scope and name in SPECIAL and (name != "rank" or self.ranked):
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

    def expression(self, place: str, e: Any, *special: str, local: Collection[str] = ()) -> None:
        """Well-formed, of names of the scope, `special` ones and variables `local`. Iterates: `e` may be any graph."""
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
            own = name == "rank" and name in self.scope and not self.ranked
            if name in special and not own:
                if name == "rank":
                    self.needs_ranks(place)
            elif name in SPECIAL and not own:
                self.say(place, f"{name!r} has no value here: expected it {SPECIAL[name]}")
            elif name in self.variables and name not in self.scope and name not in local:
                where = "in trips, conditions, peers, elements and values"
                self.say(place, f"{name!r} is a variable, which has no value here: expected it {where}")
            else:
                what = "tunable, earlier derived name or variable" if local else "tunable or earlier derived name"
                self.refer(place, name, f"problem size, {what}", self.scope, local)
