"""The columns of a configuration: a fixed list of names, so that no name in SQL comes from input."""

from collections.abc import Iterable
from dataclasses import dataclass

from db.errors import StoreError, shorten

MAX_TUNABLES = 16


@dataclass(frozen=True)
class Column:
    """One integer column.

    Attributes:
        name: its name in the table and in the API.
        bits: 16, 32 or 64, as PostgreSQL stores it.
        nullable: whether a row may have no value there.
    """

    name: str
    bits: int
    nullable: bool = True

    @property
    def largest(self) -> int:
        return (1 << (self.bits - 1)) - 1


TUNABLE_COLUMNS = tuple(f"t{index}" for index in range(MAX_TUNABLES))
BYTE_COLUMNS = ("ub", "l1", "l0a", "l0b", "l0c", "gm_ring", "gm_traffic")

COLUMNS = (
    Column("row", 32, nullable=False),
    *(Column(name, 16) for name in TUNABLE_COLUMNS),
    Column("verdict", 16, nullable=False),
    Column("rule", 16),
    Column("cycles", 64),
    *(Column(name, 64) for name in BYTE_COLUMNS),
    Column("bound", 16),
    Column("stretch_milli", 32),
    Column("busy_cube", 64),
    Column("busy_vector", 64),
)
BY_NAME = {column.name: column for column in COLUMNS}
CONFIGURATION_COLUMNS = tuple(BY_NAME)


def known_columns(names: Iterable[str]) -> tuple[Column, ...]:
    """The columns of these names, each once, in the order given.

    Raises:
        StoreError: names that no column has, all of them at once.
    """
    wanted = dict.fromkeys(names)
    unknown = [name for name in wanted if name not in BY_NAME]
    if unknown:
        listed = ", ".join(shorten(repr(name), 60) for name in unknown[:10])
        raise StoreError(
            f"no column of a configuration is named {listed}: choose among {', '.join(CONFIGURATION_COLUMNS)}"
        )
    return tuple(BY_NAME[name] for name in wanted)
