"""What is known while a kernel is read: of the whole file, and of the function at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pto_tune.kernels import attributes as words
from pto_tune.kernels.faults import Faults, Place
from pto_tune.kernels.items import Item, Step
from pto_tune.kernels.memory import Allocation
from pto_tune.kernels.parsing import Op, Token
from pto_tune.kernels.pipes import Ends
from pto_tune.kernels.types import (
    MEMORY_OF,
    PointerType,
    ScalarType,
    TileType,
    Type,
    ViewType,
    read_type,
)
from pto_tune.kernels.values import Number, Other, Pointer, Scope, Tile, Value, View
from pto_tune.model.communication import Signal, Staging
from pto_tune.model.expr import Expr, expr, name
from pto_tune.model.nodes import Node

MAX_STEPS = 9000
"""Most steps of all programs, loops that are taken apart included."""

MAX_READ = 200_000
"""Most operations that are read, those of loops that are taken apart and of calls each time."""

RESERVED = ("block", "sub", "rank", "on_a5", "blocks", "ranks", "sub_cores")


@dataclass
class Size:
    """A problem size: the argument of a function that decides how often something runs, or how much of it."""

    default: int
    doc: str


@dataclass
class Kernel:
    """The file at hand: its functions by name, its pipes, and what comes out of reading it."""

    source: str
    functions: dict[str, Op]
    ends: Ends
    faults: Faults
    aliases: dict[str, str]
    price_unknown: bool = False
    family: str = ""
    sizes: dict[str, Size] = field(default_factory=dict)
    unknown: dict[str, list[Place]] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)  # in order
    signals: dict[str, Signal] = field(default_factory=dict)
    staging: dict[str, Staging] = field(default_factory=dict)
    ranked: bool = False
    uses_block: bool = False
    uses_scratch: bool = False
    steps: int = 0
    read: int = 0

    def note(self, text: str) -> None:
        """Something that was assumed, once."""
        self.notes.setdefault(text)


@dataclass
class Core:
    """The program of a core while it is read."""

    kernel: Kernel
    core: str
    function: str
    explicit: bool  # flags stand in the file
    scope: Scope = field(default_factory=Scope)
    items: list[Item] = field(default_factory=list)
    allocations: dict[str, Allocation] = field(default_factory=dict)
    calls: tuple[str, ...] = ()  # functions that are being read, outermost first
    at: int = 0

    def say(self, place: Place, sentence: str, rule: str = "unsupported") -> None:
        """Note a fault."""
        self.kernel.faults.say(place, sentence, rule)

    # values

    def look(self, name: str) -> Value | None:
        """What a name stands for."""
        return self.scope.get(name)

    def number(self, name: str) -> Number:
        """A name as a number."""
        value = self.look(name)
        return value if isinstance(value, Number) else Number(None, f"{name} is no number that is followed")

    def numbers(self, tokens: Sequence[Token] | None) -> list[Number]:
        """A list of values and literals as numbers."""
        from pto_tune.kernels.values import number

        found = list[Number]()
        for t in tokens or ():
            if t.kind == "value":
                found.append(self.number(t.text))
            elif t.kind == "number" and t.text.isdigit():
                found.append(number(int(t.text)))
        return found

    def type_of(self, text: str, place: Place) -> Type:
        """A type; what is wrong with it is a fault."""
        try:
            return read_type(text, self.kernel.aliases)
        except ValueError as e:
            self.say(place, str(e))
            return ScalarType(text, False)

    def result_type(self, op: Op) -> Type:
        """The last type that an operation names: that of its result."""
        found = words.types(op.tokens)
        return self.type_of(found[-1], op.place) if found else ScalarType("", False)

    def argument(self, name_: str, kind: Type, place: Place) -> Value:
        """An argument of the function: integers become problem sizes where something depends on them."""
        match kind:
            case ScalarType(whole=True):
                return Number(name(plain_name(name_)))
            case PointerType():
                return Pointer(plain_name(name_))
            case TileType():
                return self.tile(name_, kind, place)
            case ViewType():
                return View(tuple(None if d is None else expr(d) for d in kind.dims), kind.dtype, plain_name(name_))
        return Other(kind.name)

    def tile(self, name_: str, kind: TileType, place: Place, address: int | None = None, popped: str = "") -> Tile:
        """A new tile; one of the same operation is the same tile."""
        root = f"{place}" + "".join(f"/{c}" for c in self.calls[1:])
        if root not in self.allocations and kind.loc in MEMORY_OF:
            memory = "" if popped else MEMORY_OF[kind.loc]
            self.allocations[root] = Allocation(root, plain_name(name_), memory, kind.bytes, address, place)
        rows = kind.rows if kind.valid_rows is None else kind.valid_rows
        cols = kind.cols if kind.valid_cols is None else kind.valid_cols
        return Tile(kind, frozenset({root}), expr(rows), expr(cols), popped)

    # steps

    def step(
        self,
        node: Node,
        pipe: str,
        place: Place,
        reads: Sequence[Tile] = (),
        writes: Sequence[Tile] = (),
    ) -> None:
        """Append a step, and note that its tiles are in use."""
        self.kernel.steps += 1
        if self.kernel.steps == MAX_STEPS + 1:
            self.say(place, f"is beyond {MAX_STEPS} steps: expected fewer, or loops that need not be taken apart")
        if self.kernel.steps > MAX_STEPS:
            return
        self.at += 1
        read = frozenset(r for t in reads for r in t.roots)
        written = frozenset(r for t in writes for r in t.roots)
        for root in read | written:
            if root in self.allocations:
                self.allocations[root].touch(self.at)
        self.items.append(Step(node, pipe, place, read, written))

    def needed(self, e: Expr, default: int, place: Place, why: str) -> None:
        """A number that something depends on: its arguments become problem sizes."""
        from pto_tune.model.expr import names_in

        for n in names_in(e):
            if n == "block":
                self.kernel.uses_block = True
            elif n not in ("sub", "rank", "blocks", "ranks", "sub_cores"):
                doc = f"argument of the kernel: {why} at line {place.line}; the default is no value of the file"
                self.kernel.sizes.setdefault(n, Size(default, doc))


def plain_name(text: str) -> str:
    """The name of a value as a name of the model."""
    word = "".join(c if c.isascii() and c.isalnum() else "_" for c in text.lstrip("%")).strip("_")[:48]
    if not word or not word[0].isalpha():
        word = f"v{word}"
    return f"{word}_" if word in RESERVED else word
