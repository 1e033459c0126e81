"""Pipes of a kernel: the two ends that its functions initialise, brought together, and what contradicts in them.

`aic_initialize_pipe` and `aiv_initialize_pipe` belong together by their `id`; `initialize_l2g2l_pipe` and
`initialize_l2l_pipe` return a handle, and belong together by `flag_base`, by the buffer that one side reserves and the
other imports, or else by their order. Without a value slot_num is 8 (4 where a pipe goes both ways), local_slot_num is
slot_num, and flags are given out in order, two a way (PTOAS, design of TPUSH and TPOP).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pto_tune.kernels import attributes as words
from pto_tune.kernels.attributes import Attribute
from pto_tune.kernels.faults import Faults, Place
from pto_tune.kernels.parsing import Op
from pto_tune.kernels.types import ViewType, element_bytes, read_type
from pto_tune.kernels.values import Reserved
from pto_tune.model.expr import Expr, expr, name
from pto_tune.model.nodes import SPLITS, Fifo, Tunable

FRONTEND = {"pto.aic_initialize_pipe": "AIC", "pto.aiv_initialize_pipe": "AIV"}
HANDLES = ("pto.initialize_l2g2l_pipe", "pto.initialize_l2l_pipe")
DIRECTIONS = {1: "C2V", 2: "V2C", 3: "BOTH"}
SLOT_NUM = {1: 8, 2: 8, 3: 4}
"""SlotNum by dir_mask where a file gives none."""

_NUMBERS = ("dir_mask", "slot_size", "slot_num", "local_slot_num", "flag_base", "id")
_SAME = ("dir_mask", "slot_size", "slot_num", "local_slot_num", "flag_base", "nosplit")
_SLOTS, _LOCAL_SLOTS = (1, 2, 4, 8), (1, 2, 4)


@dataclass
class End:
    """A pipe as one function initialises it. `core` is AIC, AIV, or both where the sections of one function share
    it; `handle` is the name of its result, "" for those with an id."""

    op: Op
    core: str
    function: str
    handle: str
    numbers: dict[str, int]
    places: dict[str, Place]
    nosplit: bool | None
    entry: ViewType | None  # of a pipe of GlobalData slots
    buffers: tuple[Reserved, ...]
    gm_form: bool
    given: dict[str, Attribute] = field(default_factory=dict)

    @property
    def place(self) -> Place:
        return self.op.place

    @property
    def key(self) -> str:
        """What calls name it by, in its function."""
        return self.handle or str(self.numbers.get("id", 0))

    def value(self, name: str) -> int | bool | None:
        """An attribute, with what stands for it where the file gives none."""
        mask = self.numbers.get("dir_mask", 1)
        if name == "nosplit":
            return bool(self.nosplit)
        if name == "slot_num":
            return self.numbers.get("slot_num", SLOT_NUM.get(mask, 8))
        if name == "local_slot_num":
            return self.numbers.get("local_slot_num", self.numbers.get("slot_num", SLOT_NUM.get(mask, 8)))
        return self.numbers.get(name)


@dataclass
class PipeOf:
    """A pipe with its ends. `splits` are those of its calls, with their places, `calls` the calls themselves; `uses` by
    way and side."""

    name: str
    ends: list[End]
    flag_id: int = 0
    splits: list[tuple[int, Place]] = field(default_factory=list)
    calls: list[Op] = field(default_factory=list)
    uses: dict[tuple[str, bool], list[tuple[int, Place]]] = field(default_factory=dict)
    global_data: bool = False

    @property
    def first(self) -> End:
        return self.ends[0]

    @property
    def direction(self) -> str:
        return DIRECTIONS[self.first.numbers["dir_mask"]]

    @property
    def one_split(self) -> int | None:
        """The split of all calls, where they have one."""
        found = {split for split, _ in self.splits}
        return found.pop() if len(found) == 1 else None


def walk(ops: Sequence[Op]) -> Iterator[Op]:
    """Operations, then those of their regions."""
    for op in ops:
        yield op
        for region in op.regions:
            yield from walk(region)


class Ends:
    """Finds the ends of the functions of a kernel and brings them together."""

    def __init__(self, faults: Faults, aliases: dict[str, str]) -> None:
        self.faults, self.aliases = faults, aliases
        self.ends: list[End] = []
        self.reserved: list[Reserved] = []
        self.pipes: list[PipeOf] = []
        self.of: dict[tuple[str, str], PipeOf] = {}  # (function, key)

    def scan(self, function: str, core: str, ops: Sequence[Op]) -> None:
        """The ends of a function, and the buffers that it reserves or imports."""
        buffers: dict[str, Reserved] = {}
        for op in walk(ops):
            if op.name in ("pto.reserve_buffer", "pto.import_reserved_buffer") and op.results:
                buffers[op.results[0]] = self._reserved(op, function)
            elif op.name in FRONTEND or op.name in HANDLES:
                self._end(op, function, core, buffers)
        self.reserved += buffers.values()

    def _reserved(self, op: Op, function: str) -> Reserved:
        a = words.attributes(op)
        imported = op.name == "pto.import_reserved_buffer"
        peer = a["peer_func"].text.lstrip("@").strip('"') if imported and "peer_func" in a else function
        size, base = a.get("size"), a.get("base")
        if not imported and (size is None or size.integer is None or size.integer < 1):
            self.faults.say(op.place, "reserve_buffer has no size: expected size = BYTES")
        return Reserved(
            a["name"].string if "name" in a else "",
            peer,
            op.place,
            (size.integer or 0) if size is not None else 0,
            base.integer if base is not None else None,
            a["location"].last_word if "location" in a else "",
            imported,
            size.first.place if size is not None and size.first is not None else None,
        )

    def _end(self, op: Op, function: str, core: str, buffers: dict[str, Reserved]) -> None:
        a = words.attributes(op)
        short = op.name.removeprefix("pto.")
        numbers: dict[str, int] = {}
        for key in _NUMBERS:
            value = a.get(key)
            if value is None:
                continue
            if value.integer is None or not 0 <= value.integer < 2**31:
                self.faults.say(value.place, f"{key} = {value.text}: expected a number from 0")
            else:
                numbers[key] = value.integer
        wanted = FRONTEND.get(op.name, core)
        if wanted != core and core != "both":
            self.faults.say(op.place, f"{short} in a function for {core}: expected it in one for {wanted}")
        if numbers.get("dir_mask") not in DIRECTIONS:
            where = a["dir_mask"].place if "dir_mask" in a else op.place
            self.faults.say(where, f"{short} has dir_mask {numbers.get('dir_mask', 'missing')}: expected 1, 2 or 3")
            numbers["dir_mask"] = 1
        if numbers.get("slot_size", 0) < 1:
            self.faults.say(op.place, f"{short} has no slot_size: expected the bytes of a slot")
            numbers["slot_size"] = 32
        views = [t for t in (self._type(x) for x in words.types(op.tokens)) if isinstance(t, ViewType)]
        named = [v for v in words.operands(op.tokens) if v in buffers]
        entry = views[0] if views and all(d is not None for d in views[0].dims) else None
        is_global = bool(views) and (op.name in HANDLES or "gm_slot_tensor" in words.named_operands(op))
        end = End(
            op, FRONTEND.get(op.name, core), function, op.results[0] if op.results else "", numbers,
            {key: value.place for key, value in a.items()}, _flag(a.get("nosplit")), entry if is_global else None,
            tuple(buffers[v] for v in named), is_global or op.name == HANDLES[0], a,
        )  # fmt: skip
        other = next((e for e in self.ends if (e.function, e.key, e.core) == (function, end.key, end.core)), None)
        if other is not None:
            self.faults.say(op.place, f"{short} repeats the id {end.key} of {other.place}: expected an id of its own")
            return
        self.ends.append(end)

    def _type(self, text: str) -> object:
        try:
            return read_type(text, self.aliases)
        except ValueError:
            return None

    def pair(self) -> None:
        """Bring the ends together, and say what contradicts in those of one pipe."""
        cubes = [e for e in self.ends if e.core in ("AIC", "both")]
        vectors = [e for e in self.ends if e.core == "AIV"]
        used = set[str]()
        for cube in cubes:
            mate = None if cube.core == "both" else self._mate(cube, vectors)
            if mate is not None:
                vectors.remove(mate)
            elif cube.core != "both":
                self._lonely(cube, "AIV")
            self._pipe([cube, *([mate] if mate is not None else [])], used)
        for end in vectors:
            self._lonely(end, "AIC")
            self._pipe([end], used)
        self._flags()

    def _mate(self, cube: End, vectors: Sequence[End]) -> End | None:
        alike = [v for v in vectors if bool(v.handle) == bool(cube.handle)]
        if not cube.handle:
            return next((v for v in alike if v.key == cube.key), None)
        flag = cube.numbers.get("flag_base")
        if flag is not None:
            found = next((v for v in alike if v.numbers.get("flag_base") == flag), None)
            if found is not None:
                return found
        shared = {(b.name, b.function) for b in cube.buffers}
        found = next((v for v in alike if shared & {(b.name, b.function) for b in v.buffers}), None)
        same = [v for v in alike if v.numbers["dir_mask"] == cube.numbers["dir_mask"]]
        return found or (same[0] if same else None)

    def _lonely(self, end: End, missing: str) -> None:
        kind = "cube" if missing == "AIC" else "vector"
        which = f"the pipe {end.handle}" if end.handle else f"the pipe of id {end.key}"
        said = f"{which} has one end only: expected a function of kind {kind} that initialises the other"
        self.faults.say(end.place, said, "pipe-end")

    def _pipe(self, ends: list[End], used: set[str]) -> None:
        first = ends[0]
        wanted = f"pipe{first.key}" if not first.handle else f"pipe{len(self.pipes)}"
        title = wanted
        while title in used:
            title = f"{wanted}_{len(used)}"
        used.add(title)
        pipe = PipeOf(title, ends)
        self.pipes.append(pipe)
        for end in ends:
            self.of[end.function, end.key] = pipe
        pipe.global_data = any(e.entry is not None for e in ends)
        for other in ends[1:]:
            for key in _SAME:
                a, b = first.value(key), other.value(key)
                if a != b and not (key == "flag_base" and None in (a, b)):
                    where = other.places.get(key, other.place)
                    said = f"{title} has {key} = {b} here and {a} at {first.places.get(key, first.place)}: expected one"
                    self.faults.say(where, said, "pipe-ends")

    def _flags(self) -> None:
        """Flags in order behind one another, around those that the file gives."""
        count = {p.name: 2 * (2 if p.direction == "BOTH" else 1) for p in self.pipes}
        taken = set[int]()
        for pipe in self.pipes:
            given = next((e.numbers["flag_base"] for e in pipe.ends if "flag_base" in e.numbers), None)
            if given is not None:
                pipe.flag_id = min(given, 255)
                taken |= set(range(given, given + count[pipe.name]))
        for pipe in self.pipes:
            if any("flag_base" in e.numbers for e in pipe.ends):
                continue
            at = 0
            while taken & set(range(at, at + count[pipe.name])):
                at += 1
            pipe.flag_id = min(at, 255)
            taken |= set(range(at, at + count[pipe.name]))


def _flag(value: Attribute | None) -> bool | None:
    return None if value is None else value.boolean


def tunables_of(pipe: PipeOf) -> list[Tunable]:
    """SlotNum, LocalSlotNum of a pipe whose tiles are popped, and the split where all calls have one: each with the
    file's value as default. Slot sizes and other splits go with the tiles of the program, and are no tunables."""
    slots, local = int(pipe.first.value("slot_num") or 0), int(pipe.first.value("local_slot_num") or 0)
    found = [
        Tunable(
            f"{pipe.name}_slot_num", _domain(_SLOTS, slots), slots, f"slot_num (FifoDepth) of {pipe.name}", 0, 2**16,
        )
    ]  # fmt: skip
    if not pipe.global_data:
        doc = f"local_slot_num of {pipe.name}: popped tiles in UB or L1 (A2/A3)"
        found.append(Tunable(f"{pipe.name}_local_slot_num", _domain(_LOCAL_SLOTS, local), local, doc, 0, 2**16))
    if pipe.one_split is not None:
        doc = f"TileSplitAxis of {pipe.name}; the tiles of the program fit the file's"
        found.append(Tunable(f"{pipe.name}_split", (pipe.one_split,), pipe.one_split, doc, 0, 4, SPLITS))
    return found


def _domain(values: Sequence[int], value: int) -> tuple[int, ...]:
    return tuple(sorted({*values, value}))


def fifo_of(pipe: PipeOf) -> Fifo:
    """The pipe as the model has it."""
    first = pipe.first
    size = first.numbers["slot_size"]
    entry = expr(size)
    if first.entry is not None:
        n = element_bytes(first.entry.dtype)
        for d in first.entry.dims:
            n *= d or 1
        entry = expr(n)
    split: Expr = expr(pipe.splits[0][0]) if pipe.splits else expr(0)
    if pipe.one_split is not None:
        split = name(f"{pipe.name}_split")
    return Fifo(
        name=pipe.name,
        direction=pipe.direction,
        slot_bytes=expr(size),
        slot_num=name(f"{pipe.name}_slot_num"),
        sync_period=expr(0),
        local_slot_num=expr(1) if pipe.global_data else name(f"{pipe.name}_local_slot_num"),
        split=split,
        flag_id=pipe.flag_id,
        tile_bytes=entry,
        slot_num_name=f"{pipe.name}_slot_num",
        gm_form=first.gm_form,
        is_no_split=expr(int(bool(first.nosplit))),
    )
