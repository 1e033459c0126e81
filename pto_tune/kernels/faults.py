"""Places in a kernel file, and what cannot be read of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MAX_SHOWN = 100  # faults in a message


@dataclass(frozen=True, order=True)
class Place:
    """Line and column of a kernel file, both from 1; columns count characters."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


START = Place(1, 1)


@dataclass(frozen=True, order=True)
class Fault:
    """Why a file cannot be read, or what its own values contradict. `rule` says of which kind the fault is."""

    place: Place
    sentence: str
    rule: str = "unsupported"


class KernelError(ValueError):
    """A kernel file cannot be read: one sentence a line, each with file, line and column."""

    def __init__(self, source: str, faults: Iterable[Fault]) -> None:
        self.source, self.faults = source, tuple(sorted(set(faults)))
        shown = [f"{source}:{f.place}: {f.sentence}" for f in self.faults[:MAX_SHOWN]]
        more = len(self.faults) - MAX_SHOWN
        super().__init__("\n".join([*shown, *([f"{source}: ... and {more} more faults"] if more > 0 else [])]))


class Faults:
    """Collects faults, so that all of them are reported at once."""

    def __init__(self) -> None:
        self.found: list[Fault] = []

    def say(self, place: Place, sentence: str, rule: str = "unsupported") -> None:
        """Note a fault; no more are kept than anybody reads."""
        if len(self.found) <= 10 * MAX_SHOWN:
            self.found.append(Fault(place, sentence, rule))

    def stop(self, source: str) -> None:
        """KernelError where there are faults."""
        if self.found:
            raise KernelError(source, self.found)


def listed(words: Sequence[str], most: int = 8) -> str:
    """Words between commas; many are cut short."""
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")
