"""Files that several platforms inherit from: whether what is fitted on one platform may be stated for all of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from cost_models.schema import PlatformError, ancestry, builtin_files, is_name, resolve, suggestion
from pto_tune.calibrating.rows import CalibrationError

if TYPE_CHECKING:
    from cost_models.platform import Platform


def base_file(reference: str) -> Path:
    """The file of a base: the built-in one of a name (abstract ones too), or a path.

    Raises:
        CalibrationError: there is no such file.
    """
    if not is_name(reference):
        path = Path(reference)
        if not path.is_file():
            raise CalibrationError(f"--base {reference}: no such file: give the path of a platform file, or a name")
        return path
    known = builtin_files()
    if reference not in known:
        near = suggestion(reference, known)
        raise CalibrationError(f"--base {reference}: no such platform{near}: choose one of {', '.join(known)}")
    return known[reference]


def check_base(platform: Platform, base: Path, keys: Iterable[str]) -> None:
    """Whether a file that inherits from `base` may state what is fitted to `keys` on `platform`.

    The platform must inherit from the base, and must have each number as the base's chain states it: then the start
    value and the range are those of the base, and whatever inherits from the new file has what was fitted.

    Raises:
        CalibrationError: it may not, with every key that stands in the way.
        PlatformError: the base is no sound file.
    """
    if os.path.realpath(base) not in {os.path.realpath(path) for path in ancestry(Path(platform.source_path))}:
        raise CalibrationError(
            f"platform {platform.name!r} does not inherit from {base.name}: give a base that it inherits from"
        )
    found = resolve(base)
    if found.errors:
        raise PlatformError("\n".join(found.errors))
    wrong = []
    for key in keys:
        entry, number = found.entries.get(key), platform.numbers[key]
        if entry is None:
            wrong.append(
                f"{key} is not stated by {base.name} or what it inherits from: state it there, or choose a base"
            )
        elif (entry.value, entry.unit, entry.low, entry.high) != (number.value, number.unit, number.low, number.high):
            wrong.append(
                f"{key} is replaced below {base.name}, where it is {entry.value:g} {entry.unit}: fit it without a "
                "base, or choose one that states it"
            )
    if wrong:
        raise CalibrationError("\n".join(wrong))
