"""One number of a platform, in base units and as its file has it."""

from dataclasses import dataclass

from cost_models.keys import KINDS, OVERRIDE, find_key, to_base


@dataclass(frozen=True)
class Number:
    """A number with its origin.

    `base`, `base_low` and `base_high` are in `base_unit` (bytes, cycles, B/cycle, us, MHz ...); `value`,
    `low` and `high` are in `unit` as written in the file. `low` and `high` are the range that other
    published figures leave open, None where there is none.
    """

    key: str
    base: float
    base_unit: str
    value: float
    unit: str
    kind: str
    source: str
    note: str = ""
    low: float | None = None
    high: float | None = None
    base_low: float | None = None
    base_high: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in (*KINDS, OVERRIDE):
            raise ValueError(f"{self.key}: kind is {self.kind!r}; give one of {', '.join(KINDS)}")


@dataclass(frozen=True)
class Entry:
    """A number as a platform file states it, checked, in the file's own unit."""

    key: str
    value: float
    unit: str
    kind: str
    source: str
    note: str = ""
    low: float | None = None
    high: float | None = None

    def number(self, core_mhz: float) -> Number:
        """This entry in base units at a core clock of `core_mhz` MHz."""
        key = find_key(self.key)
        if key is None:
            raise ValueError(f"{self.key}: unknown key; choose one that cost_models.keys lists")
        low, high = (None if x is None else to_base(x, self.unit, core_mhz) for x in (self.low, self.high))
        return Number(
            key=self.key,
            base=to_base(self.value, self.unit, core_mhz),
            base_unit=key.base_unit,
            value=self.value,
            unit=self.unit,
            kind=self.kind,
            source=self.source,
            note=self.note,
            low=self.low,
            high=self.high,
            base_low=low,
            base_high=high,
        )
