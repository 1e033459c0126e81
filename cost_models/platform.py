"""A platform: the numbers of one SoC, loaded from its file and everything that the file inherits."""

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cost_models.calibrated import Covariance, read_covariance
from cost_models.keys import CLOCK_KEY, CLOCKED_UNITS, KEYS, OVERRIDE, family_keys, find_key, to_base
from cost_models.number import Number
from cost_models.schema import PlatformError, Resolution, ancestry, builtin_files, is_name, resolve, suggestion

__all__ = [
    "Number", "Platform", "PlatformError", "StandingFit", "check_file", "load_platform", "platform_names",
    "standing_fits",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Platform:
    """The numbers of one SoC. Equal platforms have equal `sha256`, wherever their files lie.

    `platform["dma.gm_to_l1.rate"]` is the number in base units (cycles, bytes, B/cycle, us, MHz);
    `platform.numbers[key]` is the same with unit, kind, source, note and range.
    """

    name: str
    family: str
    soc: str
    description: str
    numbers: Mapping[str, Number]
    source_path: str
    sha256: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", MappingProxyType(dict(self.numbers)))
        object.__setattr__(self, "sha256", self._digest())

    def __getitem__(self, key: str) -> float:
        try:
            return self.numbers[key].base
        except KeyError:
            raise PlatformError(
                f"platform {self.name!r} has no number {key!r}{suggestion(key, self.numbers)}; "
                "choose one of platform.numbers"
            ) from None

    def __contains__(self, key: object) -> bool:
        return key in self.numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Platform) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __reduce__(self) -> tuple[Any, ...]:
        # a mapping proxy can be neither pickled nor copied
        head = (self.name, self.family, self.soc, self.description)
        return Platform, (*head, dict(self.numbers), self.source_path)

    def with_values(self, values: Mapping[str, float]) -> "Platform":
        """A copy with other values, given in base units; their kind becomes `override`.

        Another core clock also rescales the numbers that the file states in GB/s and GiB/s. Raises
        PlatformError with all unknown keys and all values out of range.
        """
        errors = []
        for name, value in values.items():
            wrong = _override_error(self, name, value)
            if wrong is not None:
                errors.append(wrong)
        if errors:
            raise PlatformError("\n".join(errors))
        numbers = dict(self.numbers)
        if CLOCK_KEY in values:
            clock_mhz = float(values[CLOCK_KEY])
            numbers = {name: _at_clock(number, clock_mhz) for name, number in numbers.items()}
        for name, value in values.items():
            numbers[name] = _overridden(self.numbers[name], float(value))
        return Platform(self.name, self.family, self.soc, self.description, numbers, self.source_path)

    def _digest(self) -> str:
        content = {
            "name": self.name,
            "family": self.family,
            "soc": self.soc,
            "description": self.description,
            "numbers": [
                [n.key, n.base, n.value, n.unit, n.kind, n.source, n.note, n.low, n.high] for n in self.numbers.values()
            ],
        }
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return sha256(text.encode("utf-8")).hexdigest()


def platform_names() -> list[str]:
    """The platforms that come with the package and can be chosen, in alphabetical order."""
    return list(_choosable())


def load_platform(name_or_path: str | os.PathLike[str], overrides: Mapping[str, float] | None = None) -> Platform:
    """The platform called `name_or_path`, or of the file there.

    A name has no path separator and no suffix .toml; anything else is a path. `overrides` are applied as by
    `Platform.with_values`. Raises PlatformError: unknown name, or all errors of the file, one a line.
    """
    reference = os.fspath(name_or_path)
    if isinstance(name_or_path, str) and is_name(reference):
        names = platform_names()
        if reference not in names:
            choices = f"choose one of {', '.join(names)}"
            if reference in builtin_files():
                raise PlatformError(f"platform {reference!r} is abstract: {choices}")
            near = suggestion(reference, names)
            raise PlatformError(f"unknown platform {reference!r}: {choices}{near}, or give a path to a .toml file")
        platform = _load_builtin(reference)
    else:
        platform = _load(Path(reference))
    return platform.with_values(overrides) if overrides else platform


def check_file(path: str | os.PathLike[str]) -> list[str]:
    """Everything that is wrong with the platform file at `path`, a sentence each; empty if nothing is.

    An abstract file may leave numbers out.
    """
    return resolve(Path(path)).errors


@lru_cache(maxsize=1)
def _choosable() -> tuple[str, ...]:
    return tuple(name for name, path in builtin_files().items() if not resolve(path).abstract)


@lru_cache(maxsize=32)
def _load_builtin(name: str) -> Platform:
    return _load(builtin_files()[name])


def _load(path: Path) -> Platform:
    found = resolve(path)
    if not found.errors and found.abstract:
        found.errors.append(f"{path}: platform.abstract: is true; give a file that inherits from it")
    if found.errors:
        raise PlatformError("\n".join(found.errors))
    return _platform(found)


def _platform(found: Resolution) -> Platform:
    core_mhz = found.entries[CLOCK_KEY].value
    head = found.head
    order = [*family_keys(head["family"]), *sorted(found.entries.keys() - KEYS.keys())]
    numbers = {name: found.entries[name].number(core_mhz) for name in order}
    return Platform(head["name"], head["family"], head["soc"], head["description"], numbers, str(found.path))


@dataclass(frozen=True)
class StandingFit:
    """The calibration of a file that a platform inherits (or of its own file), and which of its numbers the platform
    still has as that file states them: `standing` are places in `covariance.keys`."""

    path: Path
    covariance: Covariance
    standing: tuple[int, ...]


def standing_fits(platform: Platform) -> list[StandingFit]:
    """The calibrations in the files behind a platform that it has numbers of, those of its parents first.

    Numbers that a later file or the caller replaced stand no more. None where the files cannot be read any longer.
    """
    try:
        files = ancestry(Path(platform.source_path))
        found = [(path, read_covariance(path)) for path in reversed(files)]
    except OSError:
        return []
    out, taken = [], set[str]()
    for path, fit in reversed(found):
        if fit is not None:
            entries = resolve(path).entries
            at = tuple(
                i
                for i, key in enumerate(fit.keys)
                if key not in taken and platform.numbers[key] == entries[key].number(platform[CLOCK_KEY])
            )
            taken.update(fit.keys)
            if at:
                out.append(StandingFit(path, fit, at))
    return out[::-1]


def _override_error(platform: Platform, name: str, value: float) -> str | None:
    key = find_key(name)
    if key is None or name not in platform.numbers:
        near = suggestion(name, platform.numbers)
        return f"override {name}: platform {platform.name!r} has no such number{near}; choose one that it has"
    if not math.isfinite(value):
        return f"override {name}: is {value}; give a finite number"
    wrong = key.range_error(value)
    return None if wrong is None else f"override {name}: is {value:g}; {wrong}"


def _overridden(number: Number, value: float) -> Number:
    return Number(
        key=number.key,
        base=value,
        base_unit=number.base_unit,
        value=value,
        unit=number.base_unit,
        kind=OVERRIDE,
        source="given by the caller",
        note=f"instead of {number.value:g} {number.unit} ({number.kind}; {number.source})",
    )


def _at_clock(number: Number, core_mhz: float) -> Number:
    if number.unit not in CLOCKED_UNITS:
        return number
    base, low, high = (
        None if x is None else to_base(x, number.unit, core_mhz) for x in (number.value, number.low, number.high)
    )
    assert base is not None
    return replace(number, base=base, base_low=low, base_high=high)
