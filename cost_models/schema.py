"""Reading and checking platform files: every error at once, each with file, key and what would be right.

A file has a table `[platform]` (name, family, soc, description; optionally `inherits`, `abstract`, `schema`) and
nested tables whose dotted key is the key of a number. A number is itself a table: value, unit, kind, source
and optionally note, low and high. A file that inherits replaces whole numbers of its parent and is of its
parent's family. Some numbers belong to one family only: its platforms need them, others must not have them.
A file that a calibration made has a table `[calibration]` besides (`cost_models.calibrated`).
"""

import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from cost_models.calibrated import CALIBRATION, calibration_errors
from cost_models.keys import (
    CLOCKED_UNITS,
    FAMILIES,
    KEYS,
    KINDS,
    LINK_LEVELS,
    OPTIONAL_KEYS,
    TOGETHER,
    VECTOR_FAMILIES,
    Key,
    family_keys,
    find_key,
    to_base,
    vector_families,
)
from cost_models.number import Entry

SCHEMA = 1
"""Of platform files. A file may say which it was written for (`schema = 1` in `[platform]`); a newer one is refused."""

MAX_BYTES = 1_048_576
"""Most bytes of a platform file."""
MAX_PARTS = 64
"""Most parts of a dotted key: reading one takes the square of their number."""
MAX_QUOTED = 200
"""Most characters of what is quoted from a file."""
MAX_ERROR = 2000
"""Most characters of an error."""
MAX_SHOWN = 1000
"""Most errors that are listed."""
MAX_GUESSES = 100
"""Only so many unknown keys are told what they might have meant."""

PLATFORM_DIR = Path(__file__).with_name("platforms")

_HEAD_TEXTS = ("name", "family", "soc", "description", "inherits")
_HEAD_FIELDS = (*_HEAD_TEXTS, "abstract", "schema")
_NUMBER_FIELDS = ("value", "unit", "kind", "source", "note", "low", "high")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DEEPEST = max(name.count(".") for name in KEYS)
_PREFIXES = {name.rsplit(".", n)[0] for name in (*KEYS, *OPTIONAL_KEYS) for n in range(1, name.count(".") + 1)}


class PlatformError(ValueError):
    """A platform is unknown, or its file or an override is wrong; one line an error."""


@dataclass
class Resolution:
    """A platform file with everything that it inherits. Use it only if `errors` is empty."""

    path: Path
    head: dict[str, str] = field(default_factory=dict)
    stated_head: set[str] = field(default_factory=set)
    abstract: bool = False
    entries: dict[str, Entry] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)


def builtin_files() -> dict[str, Path]:
    """The files that come with the package, by platform name, abstract ones included."""
    return {path.stem: path for path in sorted(PLATFORM_DIR.glob("*.toml"))}


def is_name(reference: str) -> bool:
    """Whether `reference` is the name of a built-in platform; otherwise it is a path."""
    return not (reference.endswith(".toml") or "/" in reference or "\\" in reference)


def suggestion(word: str, choices: Iterable[str]) -> str:
    """` (did you mean 'x'?)` for the nearest of `choices`, or nothing."""
    near = get_close_matches(word.lower(), list(choices), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def cut(text: str) -> str:
    """A text of a file for an error, without line ends and of bearable length."""
    text = text if text.isprintable() else repr(text)[1:-1]
    return text if len(text) <= MAX_QUOTED else f"{text[: MAX_QUOTED - 3]}..."


def shown(value: object) -> str:
    """A value of a file for an error."""
    return cut(repr(value))


def resolve(path: Path) -> Resolution:
    """Read `path` and everything that it inherits, and collect what is wrong with all of it."""
    found = _resolve(path, ())
    half = MAX_ERROR // 2  # what would be right stands at the end
    found.errors = [e if len(e) <= MAX_ERROR else f"{e[: half - 5]} ... {e[-half:]}" for e in found.errors]
    more = len(found.errors) - MAX_SHOWN
    if more > 0:
        found.errors[MAX_SHOWN:] = [f"{path}: ... and {more} more errors"]
    return found


def ancestry(path: Path) -> list[Path]:
    """`path` and the files that it inherits from, its parent first; they must be sound. OSError where one is gone."""
    found: list[Path] = []
    while path not in found:
        found.append(path)
        reference = tomllib.loads(path.read_text("utf-8"))["platform"].get("inherits")
        if reference is None:
            break
        path = builtin_files()[reference] if is_name(reference) else path.parent / reference
    return found


def _resolve(path: Path, children: tuple[Path, ...]) -> Resolution:
    result = Resolution(path)
    tables = _read(path, result.errors)
    if tables is None:
        return result
    head = _check_head(path, tables.pop("platform", None), result)
    calibration = tables.pop(CALIBRATION, None)
    stated: dict[str, object] = {}
    own: dict[str, Entry] = {}
    for name, table in _flatten(path, "", tables, result.errors):
        stated[name] = table
        entry = _check_number(path, name, table, result.errors)
        if entry is not None:
            own[name] = entry
    if calibration is not None:
        result.errors.extend(calibration_errors(str(path), calibration, stated))
    complete = True
    if "inherits" in head:
        parent = _parent(path, head["inherits"], (*children, path.resolve()), result.errors)
        if parent is None:
            complete = False
        else:
            result.errors.extend(parent.errors)
            result.entries.update(parent.entries)
            result.errors.extend(_other_family(path, head, parent.head))
            head = {**{k: v for k, v in parent.head.items() if k not in ("name", "inherits")}, **head}
            # what the parent states wrongly is not missing as well
            complete = not parent.errors
    result.entries.update(own)
    result.head = head
    result.errors.extend(_foreign(path, head.get("family"), stated))
    if complete and not result.abstract:
        result.errors.extend(
            _missing(path, head.get("family"), result.stated_head | set(head), set(stated) | set(result.entries))
        )
        result.errors.extend(_topology(path, head.get("family"), result.entries))
    return result


@lru_cache(maxsize=64)
def _parsed(text: str) -> dict[str, object]:
    """The TOML of a file; platforms of one family read the same files."""
    return tomllib.loads(text)


def _read(path: Path, errors: list[str]) -> dict[str, object] | None:
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            errors.append(f"{path}: is no file; give the path of an existing .toml file")
            return None
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            errors.append(f"{path}: has more than {MAX_BYTES} bytes; give TOML as other platforms have it")
            return None
        text = content.decode("utf-8")
        if _has_long_key(text):
            errors.append(f"{path}: has a key of more than {MAX_PARTS} parts; give TOML as other platforms have it")
            return None
        # the caller takes tables out of it
        return dict(_parsed(text))
    except FileNotFoundError:
        errors.append(f"{path}: no such file; give the path of an existing .toml file")
    except OSError as error:
        errors.append(f"{path}: cannot be read ({error.strerror}); give the path of a readable .toml file")
    except UnicodeDecodeError as error:
        errors.append(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8 text")
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
        where = re.search(r" \(at (line \d+, column \d+|end of document)\)$", reason)
        if where:
            reason = f"{where[1]}: {reason[: where.start()]}"
        errors.append(f"{path}: {reason}; give valid TOML")
    except (RecursionError, ValueError):
        errors.append(f"{path}: nested too deeply or a number too long; give TOML as other platforms have it")
    return None


def _has_long_key(text: str) -> bool:
    """Whether something in a text may be a dotted key of too many parts."""
    run = 0
    for part in text.split("."):
        run = run + 1 if part and not any(mark in part for mark in ",=\n") else 0
        if run > MAX_PARTS:
            return True
    return False


def _check_head(path: Path, table: object, result: Resolution) -> dict[str, str]:
    """The valid texts of `[platform]`; sets `result.abstract`."""
    errors = result.errors
    if not isinstance(table, dict):
        errors.append(f"{path}: platform: no such table; give [platform] with name, family, soc, description")
        result.stated_head.update(_HEAD_FIELDS)
        return {}
    result.stated_head.update(table)
    head: dict[str, str] = {}
    for name, value in table.items():
        where = f"{path}: platform.{cut(name)}"
        if name not in _HEAD_FIELDS:
            errors.append(f"{where}: unknown field; allowed are {', '.join(_HEAD_FIELDS)}")
        elif name == "schema":
            if type(value) is not int or value < 1:
                errors.append(f"{where}: is {shown(value)}; give the whole number {SCHEMA}, or leave it out")
            elif value > SCHEMA:
                errors.append(
                    f"{where}: is {value}, and this pto-tune knows platform files up to {SCHEMA}; install a newer one"
                )
        elif name == "abstract":
            if isinstance(value, bool):
                result.abstract = value
            else:
                errors.append(f"{where}: is {shown(value)}; give true or false")
        elif not isinstance(value, str) or not value.strip():
            errors.append(f"{where}: is {shown(value)}; give a text that is not empty")
        elif name == "name" and not _NAME.fullmatch(value):
            errors.append(f"{where}: is {shown(value)}; give letters, digits, '.', '_' and '-' only")
        elif name == "family" and value not in FAMILIES:
            errors.append(f"{where}: is {shown(value)}; give one of {', '.join(FAMILIES)}")
        else:
            head[name] = value
    if "name" not in table:
        errors.append(f"{path}: platform.name: is missing; give the platform's name")
    return head


def _flatten(path: Path, prefix: str, tables: Mapping[str, object], errors: list[str]) -> Iterator[tuple[str, object]]:
    """The tables of all known keys below `prefix`, with their dotted keys."""
    for name, child in tables.items():
        dotted = prefix + name
        if "." not in name and find_key(dotted) is not None:
            yield dotted, child
        elif isinstance(child, dict) and _is_group(name, dotted, child):
            yield from _flatten(path, dotted + ".", child, errors)
        elif dotted in _PREFIXES:
            errors.append(f"{path}: {cut(dotted)}: is {shown(child)}; give a table of numbers, [{cut(dotted)}.<name>]")
        else:
            near = suggestion(dotted, (*KEYS, *OPTIONAL_KEYS)) if len(errors) < MAX_GUESSES else ""
            errors.append(f"{path}: {cut(dotted)}: unknown key{near}; remove it or give a known key")


def _is_group(name: str, dotted: str, table: Mapping[str, object]) -> bool:
    """Whether `table` holds further tables, so that an unknown key is named where it ends."""
    if "." in name or dotted.count(".") > _DEEPEST:
        return False
    return dotted in _PREFIXES or (bool(table) and all(isinstance(x, dict) for x in table.values()))


def _check_number(path: Path, name: str, table: object, errors: list[str]) -> Entry | None:
    where = f"{path}: {name}"
    key = find_key(name)
    assert key is not None
    if not isinstance(table, dict):
        errors.append(f"{where}: is {shown(table)}; give a table with value, unit, kind and source")
        return None
    before = len(errors)
    for unknown in table.keys() - set(_NUMBER_FIELDS):
        errors.append(f"{where}: unknown field {shown(unknown)}; allowed are {', '.join(_NUMBER_FIELDS)}")
    unit = table.get("unit")
    if unit not in key.units:
        stated = "is missing" if "unit" not in table else f"is {shown(unit)}"
        errors.append(f"{where}: unit {stated}; give {_one_of(key.units)}")
    kind = table.get("kind")
    if kind not in KINDS:
        stated = "is missing" if "kind" not in table else f"is {shown(kind)}"
        errors.append(f"{where}: kind {stated}; give {_one_of(KINDS)}")
    source = table.get("source")
    if not isinstance(source, str) or not source.strip():
        errors.append(f"{where}: source is missing or empty; name the public source of the number")
    note = table.get("note", "")
    if not isinstance(note, str):
        errors.append(f"{where}: note is {shown(note)}; give a text")
    found = {part: _real(where, key, part, table, errors) for part in ("value", "low", "high")}
    value, low, high = found["value"], found["low"], found["high"]
    if value is not None and low is not None and low > value:
        errors.append(f"{where}: low {low:g} is above value {value:g}; give a low of at most {value:g}")
    if value is not None and high is not None and high < value:
        errors.append(f"{where}: high {high:g} is below value {value:g}; give a high of at least {value:g}")
    if len(errors) > before or value is None:
        return None
    return Entry(name, value, str(unit), str(kind), str(source), str(note), low, high)


def _real(where: str, key: Key, part: str, table: Mapping[str, object], errors: list[str]) -> float | None:
    """The number `part` of `table` if it is one and in the key's range."""
    if part not in table:
        if part == "value":
            errors.append(f"{where}: value is missing; give a number in {_one_of(key.units)}")
        return None
    raw = table[part]
    if isinstance(raw, bool) or not isinstance(raw, (int, float)):
        errors.append(f"{where}: {part} is {shown(raw)}; give a number")
        return None
    try:
        number = float(raw)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        errors.append(f"{where}: {part} is {number}; give a finite number")
        return None
    unit = table.get("unit")
    # a rate is above zero in every unit, so that its range needs no clock
    base = number if unit in CLOCKED_UNITS or not isinstance(unit, str) else to_base(number, unit, None)
    wrong = key.range_error(base)
    if wrong is not None:
        errors.append(f"{where}: {part} is {number:g}; {wrong}")
        return None
    return number


def _parent(path: Path, reference: str, chain: tuple[Path, ...], errors: list[str]) -> Resolution | None:
    where = f"{path}: platform.inherits"
    if is_name(reference):
        known = builtin_files()
        if reference not in known:
            errors.append(
                f"{where}: unknown platform {shown(reference)}{suggestion(reference, known)}; "
                f"give {_one_of(known)} or the path of a .toml file"
            )
            return None
        parent = known[reference]
    else:
        parent = path.parent / reference
        if not parent.is_file():
            errors.append(f"{where}: no such file {shown(str(parent))}; give the path of an existing .toml file")
            return None
    if parent.resolve() in chain:
        errors.append(f"{where}: {shown(reference)} inherits from this file again; give a parent outside the circle")
        return None
    return _resolve(parent, chain)


def _other_family(path: Path, head: Mapping[str, str], parent_head: Mapping[str, str]) -> Iterator[str]:
    """That a file names another family than its parent, whose numbers it would inherit."""
    own, parents = head.get("family"), parent_head.get("family")
    if own is not None and parents is not None and own != parents:
        yield f"{path}: platform.family: is {own!r}, but the parent is of {parents!r}; inherit from a file of {own!r}"


def _foreign(path: Path, family: str | None, stated: Iterable[str]) -> Iterator[str]:
    """The numbers that the file itself states although its family has no such number."""
    for name in sorted(stated):
        key = find_key(name)
        if family is not None and key is not None and not key.belongs_to(family):
            only = _one_of(key.families)
            yield f"{path}: {name}: is a number of family {only} only; remove it from a file of {family}"


def _missing(path: Path, family: str | None, stated_head: set[str], stated: set[str]) -> Iterator[str]:
    """What neither the file nor a parent states; what is stated wrongly has been reported already."""
    for name in ("family", "soc", "description"):
        if name not in stated_head:
            yield f"{path}: platform.{name}: is missing; give it here or in a parent"
    for key in family_keys(family).values():
        if key.name not in stated:
            yield f"{path}: {key.name}: is missing; give {key.description} in {_one_of(key.units)}"
    for family in vector_families(sorted(stated)):
        for part in ("slope", "fixed"):
            name = f"vector.{family}.{part}"
            if family not in VECTOR_FAMILIES and name not in stated:
                yield f"{path}: {name}: is missing; give slope and fixed of a vector family together"
    for kind in LINK_LEVELS.values():
        names = [name for name in OPTIONAL_KEYS if name.startswith(f"link.{kind}.")]
        if not stated.isdisjoint(names):
            for name in names:
                if name not in stated:
                    yield f"{path}: {name}: is missing; give all numbers of a kind of link together"
    for together in TOGETHER:
        if not stated.isdisjoint(together):
            for name in together:
                if name not in stated:
                    yield f"{path}: {name}: is missing; give {' and '.join(together)} together"


def _topology(path: Path, family: str | None, entries: Mapping[str, Entry]) -> Iterator[str]:
    """Levels of the topology that fit neither each other nor the kinds of links that there are."""
    for name, kind in LINK_LEVELS.items():
        names = [key.name for key in OPTIONAL_KEYS.values() if key.name.startswith(f"link.{kind}.")]
        needed = family is not None and OPTIONAL_KEYS[names[0]].belongs_to(family)
        if needed and name in entries and entries[name].value > 1 and entries.keys().isdisjoint(names):
            yield f"{path}: {name}: is {entries[name].value:g}, but there is no link.{kind}; give its numbers, or 1"
    package, node = entries.get("topology.ranks_per_package"), entries.get("topology.ranks_per_node")
    if package is not None and node is not None and node.value % package.value:
        yield (
            f"{path}: topology.ranks_per_node: is {node.value:g}; "
            f"give a multiple of the {package.value:g} ranks of a package"
        )


def _one_of(choices: Iterable[str]) -> str:
    words = list(choices)
    return words[0] if len(words) == 1 else f"one of {', '.join(words)}"
