"""The new platform file: it inherits from the old one and states the fitted numbers, how they came about, and no date.

With a base it inherits from that file instead and is abstract: what inherits from it shares what was fitted.

The same calibration gives the same bytes, for the same name and the same place relative to the parent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from cost_models.platform import Platform, check_file
from cost_models.schema import PLATFORM_DIR, ancestry, builtin_files, is_name
from pto_tune.calibrating.algebra import rounded
from pto_tune.calibrating.calibration import Calibration, FittedNumber
from pto_tune.calibrating.rows import CalibrationError

_SOURCES = 5
"""Sources that a number names; the table of rows has them all."""

_LONGEST_SOURCE = 120


def check_target(target: Path, platform: Platform, force: bool) -> None:
    """Refuse a place where the file may not be written; asked before the fit, which may take long.

    Raises:
        CalibrationError: no .toml file, no such folder, a file that is there already, or one that `platform` inherits
            from.
    """
    if target.suffix != ".toml":
        raise CalibrationError(f"{target} is no platform file: give a name that ends in .toml")
    if not target.parent.is_dir():
        raise CalibrationError(f"{target.parent} is no folder: give a file in a folder that is there")
    if target.is_dir():
        raise CalibrationError(f"{target} is a folder: give the name of a file")
    real = os.path.realpath(target)
    if real in _ancestors(platform):
        raise CalibrationError(
            f"{target} is what the new file would inherit from: give another name, and keep the old file"
        )
    if os.path.lexists(target) and not force:
        raise CalibrationError(_there(target))


def _there(target: Path) -> str:
    return f"{target} is there already: give another name, or --force to overwrite it"


def _ancestors(platform: Platform) -> set[str]:
    """Real paths of the platform's file and of everything that it inherits."""
    return {os.path.realpath(path) for path in ancestry(Path(platform.source_path))}


def write_platform(calibration: Calibration, target: Path, force: bool = False, base: Path | None = None) -> None:
    """Write the file, whole or not at all.

    base: the file to inherit from (see `bases.check_base`); None for the platform that was calibrated.

    Raises:
        CalibrationError: see `check_target`; or the file would be wrong, which is a defect, with all that is.
    """
    check_target(target, calibration.platform, force)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(platform_text(calibration, target, base).encode("utf-8"))
        wrong = check_file(temporary)
        if wrong:
            raise CalibrationError("\n".join(wrong))
        if force:
            os.replace(temporary, target)
            return
        try:
            os.link(temporary, target)  # unlike a rename, it never takes the place of a file
        except FileExistsError:
            raise CalibrationError(_there(target)) from None
        except OSError:  # a file system without hard links
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def platform_text(
    calibration: Calibration, target: Path, base: Path | str | None = None, description: str | None = None
) -> str:
    """The file's text, as it is to stand at `target`.

    base: as of `write_platform`, or how the file is to name it. description: what it is to say of itself.
    """
    return "\n".join(_lines(calibration, target, base, description)) + "\n"


def rows_digest(calibration: Calibration) -> str:
    """Hash of the rows of the fit: of what was measured and what came out, not of where it is quoted."""
    return sha256("\n".join(f.row.located.digest for f in calibration.rows).encode("ascii")).hexdigest()


def _lines(c: Calibration, target: Path, base: Path | str | None, description: str | None) -> Iterator[str]:
    count, digest = _counted(len(c.rows), "measurement"), rows_digest(c)
    of = c.platform.name if base is None else Path(base).stem
    fitted = f"{_counted(len(c.numbers), 'number')} fitted to {count}"
    yield f"# {of} with numbers fitted to measurements; made by pto-tune calibrate."
    yield from _table("platform", {
        "name": _name(c, target),
        "inherits": base if isinstance(base, str) else _parent(base or Path(c.platform.source_path), target),
        "abstract": None if base is None else True,
        "description": description or (
            f"{c.platform.description}; {fitted}" if base is None else f"{of} with {fitted} of {c.platform.name}"
        ),
    })  # fmt: skip
    for number in c.numbers:
        yield from _table(number.key, {
            "value": number.after,
            "unit": number.unit,
            "kind": "fitted",
            "source": f"pto-tune calibrate: {_timed(c)} (rows sha256 {digest[:16]}) from {_sources(c)}",
            "note": _note(c, number),
            "low": number.low,
            "high": number.high,
        })  # fmt: skip
    yield from _table("calibration", {
        "timing": c.timing,
        "platform": None if base is None else c.platform.name,
        "rows_sha256": digest,
        "parent_sha256": c.platform.sha256 if base is None else None,
        "degrees_of_freedom": c.degrees_of_freedom,
        "chi_square": rounded(c.after.chi_square),
        "median_error": [rounded(c.before.median), rounded(c.after.median)],
        "p90_error": [rounded(c.before.p90), rounded(c.after.p90)],
        "parameters": [n.key for n in c.numbers],
        "units": [n.unit for n in c.numbers],
        "covariance": [[rounded(float(x), 9) for x in row] for row in c.covariance],
    })  # fmt: skip
    for f in c.rows:
        m = f.row.located.measurement
        yield from _table("calibration.rows", {
            "case": f.row.located.case or None,
            "workload": m.workload,
            "configuration": m.configuration_json,
            "pto_isa": m.pto_isa,
            "quantity": f"busy {f.row.located.pipe}" if f.row.located.pipe else None,
            "metric": m.metric,
            "measured": m.value,
            "repeats": m.repeats,
            "spread": m.spread,
            "standard_error": rounded(f.row.error),
            "before_us": rounded(f.before_us),
            "after_us": rounded(f.after_us),
            "residual": rounded(f.residual),
            "source": m.source or None,
            "sha256": f.row.located.digest,
        }, array=True)  # fmt: skip


def _table(name: str, fields: dict[str, Any], array: bool = False) -> Iterator[str]:
    """An empty line, a header, and the fields that are not None."""
    yield ""
    yield f"[[{name}]]" if array else f"[{name}]"
    for field, value in fields.items():
        if value is not None:
            yield f"{field} = {toml_value(value)}"


def toml_value(value: object) -> str:
    """A text, number or list of them as TOML has it."""
    if isinstance(value, str):
        if '"' in value and "'" not in value and value.isprintable():
            return f"'{value}'"
        # a basic string of TOML is one of JSON, but for this character
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(toml_value(item) for item in value)}]"
    return repr(value)


def _name(c: Calibration, target: Path) -> str:
    """The file's name where it can be a platform's, otherwise the old platform's with a word behind it."""
    stem = target.stem
    plain = stem.isascii() and stem[:1].isalnum() and all(x.isalnum() or x in "._-" for x in stem)
    own = stem not in builtin_files() or os.path.realpath(target.parent) == os.path.realpath(PLATFORM_DIR)
    return stem if plain and own else f"{c.platform.name}-calibrated"


def _parent(source: Path, target: Path) -> str:
    """How a file at `target` names the file that it inherits from."""
    real = os.path.realpath(source)
    known = builtin_files().get(source.stem)
    if known is not None and os.path.realpath(known) == real:
        return source.stem
    relative = Path(os.path.relpath(real, os.path.realpath(target.parent))).as_posix()
    return f"./{relative}" if is_name(relative) else relative


def _timed(c: Calibration) -> str:
    """How many rows of which quantity."""
    busy = sum(bool(f.row.located.pipe) for f in c.rows)
    times = len(c.rows) - busy
    parts = [f"{_counted(times, 'measurement')} timed by {c.timing}"] if times else []
    return " and ".join([*parts, *([_counted(busy, "busy time") + " of pipes"] if busy else [])])


def _sources(c: Calibration) -> str:
    named = sorted({f.row.located.measurement.source for f in c.rows} - {""})
    short = [s if len(s) <= _LONGEST_SOURCE else f"{s[: _LONGEST_SOURCE - 3]}..." for s in named[:_SOURCES]]
    more = [f"{len(named) - _SOURCES} more"] if len(named) > _SOURCES else []
    return ", ".join([*short, *more]) or "source not stated"


def _note(c: Calibration, n: FittedNumber) -> str:
    old = n.parameter.number
    parts = [
        f"standard error {rounded(n.standard_error, 3):g} {n.unit}",
        f"instead of {old.value:g} ({old.kind}; {old.source})",
        f"median error {100 * c.before.median:.1f} % before and {100 * c.after.median:.1f} % after",
    ]
    if n.tied_to:
        parts.insert(1, f"one value with {n.tied_to}")
    if n.bound_hit:
        published = (n.low if n.bound_hit == "low" else n.high) is not None
        what = f"the {n.bound_hit} end of its published range" if published else "the least that is physical"
        parts.insert(1, f"at {what}")
    if n.low is not None or n.high is not None:
        parts.append("low and high as in the parent")
    return "; ".join(parts)


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
