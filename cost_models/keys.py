"""The numbers that a platform consists of: key, dimension, range and meaning, as data.

The schema check, the loader and the documentation all read this one list. Units are parsed at the edge
only: `to_base` turns a number of a file into the unit that the models calculate in.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

#: How a number is known: published by the vendor, measured on a board, fitted to measurements by us or by
#: the source, or assumed because nothing is published.
KINDS = ("spec", "measured", "fitted", "assumed")

#: The kind of a number that a caller put in the place of the file's.
OVERRIDE = "override"

FAMILIES = ("a2a3", "a5")

#: base unit and the units that a file may use, by dimension
DIMENSIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "frequency": ("MHz", ("MHz",)),
    "count": ("count", ("count",)),
    "ratio": ("ratio", ("ratio",)),
    "size": ("B", ("B", "KiB", "MiB")),
    "cycles": ("cycles", ("cycles", "cycles/instruction")),
    "cycles a burst": ("cycles/burst", ("cycles/burst",)),
    "cycles a row": ("cycles/row", ("cycles/row",)),
    "cycles a repeat": ("cycles/repeat", ("cycles/repeat",)),
    "rate": ("B/cycle", ("B/cycle", "GB/s", "GiB/s")),
    "time": ("us", ("us",)),
    "delay": ("cycles", ("ns", "cycles")),
}

#: least value above 0 and largest value by dimension, in base units or the file's: far beyond any hardware, and such
#: that times computed from them fit into 64 bits and tables of that size into memory
LIMITS: dict[str, tuple[float, float]] = {
    "frequency": (1.0, 1e5),
    "count": (1.0, 65536.0),
    "ratio": (1e-6, 1e6),
    "size": (0.0, 1_099_511_627_776.0),
    "cycles": (0.0, 1e9),
    "cycles a burst": (0.0, 1e9),
    "cycles a row": (0.0, 1e9),
    "cycles a repeat": (0.0, 1e9),
    "rate": (1e-6, 1e9),
    "time": (0.0, 1e9),
    "delay": (0.0, 1e9),
}

#: units whose worth in the base unit depends on the core clock
CLOCKED_UNITS = ("GB/s", "GiB/s", "ns")

CLOCK_KEY = "clock.core_mhz"


@dataclass(frozen=True)
class Key:
    """One number of a platform.

    `minimum` is in base units and itself allowed unless `above` is set; `whole` asks for an integer in base
    units (bytes, counts). `families` are those whose platforms have the number, all if empty: a platform that
    is not abstract must have every key of its family and none of another.
    """

    name: str
    dimension: str
    description: str
    minimum: float = 0.0
    above: bool = True
    whole: bool = False
    families: tuple[str, ...] = ()

    @property
    def base_unit(self) -> str:
        return DIMENSIONS[self.dimension][0]

    @property
    def units(self) -> tuple[str, ...]:
        return DIMENSIONS[self.dimension][1]

    def belongs_to(self, family: str) -> bool:
        """Whether platforms of `family` have this number."""
        return not self.families or family in self.families

    def range_error(self, base: float) -> str | None:
        """What is wrong with `base` (a finite number in base units) and what would be right, or None."""
        if base < self.minimum or (self.above and base == self.minimum):
            relation = "above" if self.above else "of at least"
            return f"give a number {relation} {self.minimum:g}"
        least, most = LIMITS[self.dimension]
        if base > most:
            return f"give a number of at most {most:g}"
        if 0 < base < least:
            return f"give a number of at least {least:g}"
        if self.whole and base != int(base):
            return f"give a whole number of {'bytes' if self.dimension == 'size' else 'things counted'}"
        return None


def to_base(value: float, unit: str, core_mhz: float | None) -> float:
    """`value` of a file in the base unit of its dimension.

    GB/s is 10^9 and GiB/s 2^30 bytes a second; both need `core_mhz` to become bytes a cycle, and ns to become cycles.
    """
    if unit == "KiB":
        return value * 1024.0
    if unit == "MiB":
        return value * 1048576.0
    if unit in CLOCKED_UNITS:
        if core_mhz is None:
            base_unit = "cycles" if unit == "ns" else "B/cycle"
            raise ValueError(f"{unit} needs the core clock to become {base_unit}; give {CLOCK_KEY}")
        if unit == "ns":
            return value * core_mhz / 1000.0
        return value * (1000.0 if unit == "GB/s" else 1073.741824) / core_mhz
    return value


#: operation families of the vector unit that every platform prices
VECTOR_FAMILIES: dict[str, str] = {
    "add": "element-wise addition of two tiles (TADD)",
    "sub": "element-wise subtraction of two tiles (TSUB)",
    "mul": "element-wise product of two tiles (TMUL)",
    "div": "element-wise quotient of two tiles (TDIV)",
    "max": "element-wise maximum of two tiles (TMAX)",
    "adds": "tile plus scalar (TADDS)",
    "muls": "tile times scalar (TMULS)",
    "exp": "exponential (TEXP)",
    "cvt": "type conversion (TCVT), counted in elements of the wider type",
    "rowmax": "maximum of each row (TROWMAX)",
    "rowsum": "sum of each row (TROWSUM)",
    "rowexpand": "tile with one value a row, broadcast (TROWEXPANDSUB, TROWEXPANDMUL, TROWEXPANDDIV)",
    "dup": "fill with a scalar (TEXPANDS)",
    "copy": "copy inside UB (TMOV)",
}

_VECTOR_KEY = re.compile(r"vector\.([a-z][a-z0-9_]*)\.(slope|fixed)")


def _vector_key(family: str, part: str) -> Key:
    what = VECTOR_FAMILIES.get(family, "family defined by the platform file")
    if part == "slope":
        return Key(f"vector.{family}.slope", "cycles a repeat", f"cycles a repeat: {what}")
    return Key(f"vector.{family}.fixed", "cycles", f"cycles an instruction: {what}", above=False)


#: kinds of links between ranks and what they join
LINK_KINDS: dict[str, str] = {
    "sio": "between the dies of a package",
    "hccs": "between the packages of a node",
    "supernode": "between the nodes of a supernode",
    "roce": "between nodes by RDMA over Ethernet",
    "ub": "unified bus between ranks",
}

LINK_DIRECTIONS = ("put", "get")

#: levels of the topology that need a kind of link which not every platform has, where they join more than one
LINK_LEVELS = {"topology.ranks_per_package": "sio", "topology.nodes_per_supernode": "supernode"}


def _link(kind: str, family: str) -> Iterable[Key]:
    for direction in LINK_DIRECTIONS:
        does = "writing to" if direction == "put" else "reading from"
        for part, dimension, meaning in (
            ("startup", "delay", f"time of a DMA instruction {does} another rank besides its bytes"),
            ("rate", "rate", f"bytes a cycle of one core {does} another rank"),
            ("latency", "delay", "from the end on the pipe to visible data"),
            ("pair_capacity", "rate", "bytes a cycle of all cores from one rank to one other"),
            ("out_capacity", "rate", "bytes a cycle of all cores out of one rank"),
            ("in_capacity", "rate", "bytes a cycle of all cores into one rank"),
            ("sdma_startup", "delay", "time of a copy by the SDMA engine besides its bytes, until it is noticed"),
            ("sdma_rate", "rate", "bytes a cycle of one copy by the SDMA engine"),
        ):
            if kind != "roce" or not part.startswith("sdma"):
                name, description = f"link.{kind}.{direction}.{part}", f"{LINK_KINDS[kind]}, {direction}: {meaning}"
                yield Key(name, dimension, description, above=dimension == "rate", families=(family,))


def _links() -> Iterable[Key]:
    for kind, family in (("hccs", "a2a3"), ("roce", "a2a3"), ("ub", "a5")):
        yield from _link(kind, family)
    factor = "how much more a put that adds costs than one that writes"
    yield Key("link.atomic_factor", "ratio", factor, minimum=1.0, above=False)
    for name, description in (
        ("topology.ranks_per_package", "ranks (dies with cores of their own) in a package"),
        ("topology.ranks_per_node", "ranks in a node"),
        ("topology.nodes_per_supernode", "nodes whose ranks address each other's memory"),
    ):
        yield Key(name, "count", description, minimum=1.0, above=False, whole=True)
    for part, description in (
        ("cache_line", "cleaning and invalidating one cache line"),
        ("store", "scalar store of a signal"),
        ("atomic", "scalar atomic addition to a signal"),
        ("fence", "fence after a signal besides the flight of what it waits for"),
        ("barrier", "barrier of all pipes besides what it waits for"),
        ("latency", "from writing back a signal to its being there for a core of the same rank"),
        ("poll", "polling one element of a signal: cache line, load, comparison"),
        ("sweep", "one polling sweep besides its elements"),
    ):
        yield Key(f"signal.{part}", "delay", description, above=False)
    yield Key("signal.sweeps_per_barrier", "count", "failed polling sweeps to a barrier of all pipes", whole=True)


#: links over which a host library copies blocks, and what they join
BULK_LINKS: dict[str, str] = {name: LINK_KINDS[name] for name in ("hccs", "supernode", "roce")}

#: how it posts them
BULK_TRANSPORTS: dict[str, str] = {
    "hixl_cs": "client-server interface",
    "domain": "communication domain",
    "fabric_aicpu": "mapped memory, unfolded by the AICPU",
    "fabric_streams": "mapped memory, unfolded by the host with four streams",
}

#: from own device (d) or host memory (h) to that of another rank (r), or the other way
BULK_DIRECTIONS = ("d2rd", "rd2d", "d2rh", "rh2d", "h2rd", "rd2h", "h2rh", "rh2h")

#: what every platform of A2/A3 has; the others of a transport come together or not at all
_BULK_EVERYWHERE = (("hccs", "hixl_cs"), ("hccs", "domain"), ("roce", "hixl_cs"), ("roce", "domain"))


def bulk_rate_part(direction: str) -> str:
    """The number of a direction with host memory: from host to host writing and reading have one."""
    return f"{'h2rh' if direction == 'rh2h' else direction}_rate"


def _bulk(link: str, transport: str) -> Iterable[Key]:
    what = f"bulk copies {BULK_LINKS[link]}, {BULK_TRANSPORTS[transport]}"
    for part, meaning in (
        ("interval", "from posting a block to posting the next one"),
        ("startup", "time to move a block besides its bytes"),
    ):
        name = f"bulk.{link}.{transport}.{part}"
        yield Key(name, "delay", f"{what}: {meaning}", above=False, families=("a2a3",))


def _bulk_optional() -> Iterable[Key]:
    for link in BULK_LINKS:
        for transport, how in BULK_TRANSPORTS.items():
            if (link, transport) not in _BULK_EVERYWHERE:
                yield from _bulk(link, transport)
            for side, whose in (("near_host", "own"), ("far_host", "the other rank's")):
                what = (
                    f"bulk copies {BULK_LINKS[link]}, {how}: how much longer the interval is with {whose} host memory"
                )
                yield Key(f"bulk.{link}.{transport}.{side}", "delay", what, above=False, families=("a2a3",))
    for link in ("hccs", "supernode"):
        for direction in BULK_DIRECTIONS:
            if "h" in direction and direction != "rh2h":
                what = f"bulk copies {BULK_LINKS[link]}: bytes a cycle of blocks {direction}"
                yield Key(f"bulk.{link}.{bulk_rate_part(direction)}", "rate", what, families=("a2a3",))


def _sizes() -> Iterable[Key]:
    for name, description, above in (
        ("memory.ub", "unified buffer of a vector sub-core", True),
        ("memory.ub_usable", "bytes of the unified buffer that programs may use", True),
        ("memory.ub_scratch_top", "top of UB that the library uses as scratch in some operations", False),
        ("memory.l1", "L1 buffer of a cube core", True),
        ("memory.l0a", "left operand buffer of a cube core", True),
        ("memory.l0b", "right operand buffer of a cube core", True),
        ("memory.l0c", "accumulator buffer of a cube core", True),
        ("memory.align", "alignment of a tile's base address", True),
        ("memory.l2", "L2 cache shared by all cores", True),
    ):
        yield Key(name, "size", description, above=above, whole=True)


def _dma() -> Iterable[Key]:
    for path, what, families in (
        ("gm_to_l1", "GM to L1 (AIC MTE2)", ()),
        ("gm_to_ub", "GM to UB (AIV MTE2)", ()),
        ("ub_to_gm", "UB to GM (AIV MTE3)", ()),
        ("l1_to_l0a", "L1 to L0A (AIC MTE1)", ()),
        ("l1_to_l0b", "L1 to L0B (AIC MTE1)", ()),
        ("ub_to_l1", "UB to L1 of the cube core (AIV MTE3)", ("a5",)),
    ):
        for part, dimension, meaning, above in (
            ("startup", "cycles", "cycles of an instruction besides its bytes", False),
            ("burst", "cycles a burst", "least cycles a burst", False),
            ("rate", "rate", "bytes a cycle of one core on long bursts", True),
            ("latency", "cycles", "from the end on the pipe to visible data", False),
        ):
            yield Key(f"dma.{path}.{part}", dimension, f"{what}: {meaning}", above=above, families=families)
    yield Key(
        "dma.misaligned_factor_ub",
        "ratio",
        "slow-down of GM-UB transfers whose rows are not aligned",
        minimum=1.0,
        above=False,
    )
    yield Key(
        "dma.misaligned_factor_l1",
        "ratio",
        "slow-down of GM-L1 transfers whose rows are not aligned",
        minimum=1.0,
        above=False,
    )
    yield Key("dma.align", "size", "row pitch alignment below which a transfer is misaligned", whole=True)
    yield Key("dma.preferred_align", "size", "GM alignment that the vendor recommends", whole=True)


def _compute() -> Iterable[Key]:
    yield Key("fixpipe.fixed", "cycles", "cycles of a drain besides its rows", above=False)
    yield Key("fixpipe.row", "cycles a row", "least cycles a row of the accumulator", above=False)
    yield Key("fixpipe.rate", "rate", "L0C bytes read a cycle (4 B an element)")
    yield Key("fixpipe.odd_pass", "cycles a row", "cycles a row and extra serial pass", above=False)
    yield Key("fixpipe.gm_write_rate", "rate", "output bytes a cycle into GM")
    yield Key("fixpipe.l1_write_rate", "rate", "output bytes a cycle into L1")
    yield Key("fixpipe.ub_write_rate", "rate", "output bytes a cycle into the UB of one sub-core", families=("a5",))
    yield Key("fixpipe.latency", "cycles", "from the end on the pipe to visible data in GM or L1", above=False)
    ub_latency = "from the end on the pipe to visible data in UB"
    yield Key("fixpipe.ub_latency", "cycles", ub_latency, above=False, families=("a5",))
    yield Key("fixpipe.unit_flag_granule", "size", "bytes of L0C that the unit flag hands over at once", whole=True)
    yield Key("cube.head", "cycles", "cycles of a TMATMUL besides its fractals", above=False)
    yield Key("cube.m0", "count", "rows of a fractal", whole=True)
    yield Key("cube.n0", "count", "columns of a fractal", whole=True)
    yield Key("cube.k0_bytes", "size", "bytes of a fractal along K", whole=True)
    yield Key("cube.passes_2byte", "count", "passes a fractal for operands of at most 2 bytes", whole=True)
    yield Key("cube.passes_4byte", "count", "passes a fractal for 4-byte operands", whole=True)
    yield Key("vector.repeat_bytes", "size", "bytes of a repeat", whole=True)
    yield Key("vector.count_mode_floor", "cycles", "extra cycles where the last repeat is partial", above=False)
    for family in VECTOR_FAMILIES:
        yield _vector_key(family, "slope")
        yield _vector_key(family, "fixed")


def _rest() -> Iterable[Key]:
    yield Key("flags.set", "cycles", "cycles of setting a flag", above=False)
    yield Key("flags.wait", "cycles", "cycles of waiting for a flag that is already set", above=False)
    yield Key("flags.cross_core_latency", "cycles", "from setting a cross-core flag to its being seen", above=False)
    yield Key("flags.ids", "count", "cross-core flag ids", whole=True)
    counter = "largest value of a cross-core flag counter"
    yield Key("flags.counter_max", "count", counter, whole=True, families=("a2a3",))
    yield Key("scalar.issue", "cycles", "cycles that the scalar process needs to issue an instruction", above=False)
    yield Key("scalar.queue_depth", "count", "instructions that wait in the queue of a pipe", whole=True)
    yield Key("l2.bandwidth", "rate", "L2 bytes a cycle of all cores together, reads and writes")
    yield Key("l2.read_bandwidth", "rate", "L2 bytes a cycle of all cores together, reads alone")
    yield Key("hbm.bandwidth", "rate", "HBM bytes a cycle of all cores together")
    yield Key("launch.task", "time", "task duration less time on the device", above=False)
    yield Key("launch.event", "time", "time between two events less time on the device", above=False)
    yield Key("launch.sync", "time", "time to stream synchronisation less time on the device", above=False)
    yield Key("launch.device", "time", "overhead of the device's own time: none", above=False)


def _all() -> Iterable[Key]:
    yield Key(CLOCK_KEY, "frequency", "clock of cube and vector cores")
    yield Key("clock.system_counter_mhz", "frequency", "clock of the counter that kernels read")
    yield Key("cores.cube", "count", "cube cores (AIC)", whole=True)
    yield Key("cores.vector_per_cube", "count", "vector sub-cores (AIV) a cube core", whole=True)
    yield from _sizes()
    yield from _dma()
    yield from _compute()
    yield from _rest()
    yield from _links()
    for link, transport in _BULK_EVERYWHERE:
        yield from _bulk(link, transport)


#: every key of every family, in the order in which platforms show them
KEYS: dict[str, Key] = {key.name: key for key in _all()}

#: keys of the kinds of links that only some platforms have, all of a kind or none, and of bulk copies
OPTIONAL_KEYS: dict[str, Key] = {
    key.name: key
    for keys in (*(_link(kind, "a2a3") for kind in LINK_LEVELS.values()), _bulk_optional())
    for key in keys
}

#: optional keys that come together or not at all
TOGETHER: tuple[tuple[str, ...], ...] = tuple(
    (f"bulk.{link}.{transport}.interval", f"bulk.{link}.{transport}.startup")
    for link in BULK_LINKS
    for transport in BULK_TRANSPORTS
    if (link, transport) not in _BULK_EVERYWHERE
)


def family_keys(family: str | None) -> dict[str, Key]:
    """The keys that a platform of `family` has, in order; None: those that the platforms of all families have."""
    return {
        name: key for name, key in KEYS.items() if (key.belongs_to(family) if family is not None else not key.families)
    }


def find_key(name: str) -> Key | None:
    """The key called `name`, optional ones and families of vector operations that only a file defines included."""
    known = KEYS.get(name) or OPTIONAL_KEYS.get(name)
    if known is not None:
        return known
    match = _VECTOR_KEY.fullmatch(name)
    return _vector_key(match[1], match[2]) if match else None


def vector_families(names: Iterable[str]) -> list[str]:
    """The vector families for which `names` has a slope or a fixed part, each once, in order."""
    found = (_VECTOR_KEY.fullmatch(name) for name in names)
    return list(dict.fromkeys(match[1] for match in found if match))
