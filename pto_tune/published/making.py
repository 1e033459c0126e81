"""The platform files with fitted numbers, and those numbers without each table, made from what is published.

    python -m pto_tune.published.making [--check]

The steps are data (`fits.toml`); each is one run of the calibration (`pto_tune.calibrating`, as `pto-tune calibrate`)
from the rows marked `fit` of published tables. It starts from the hand-written platform files alone, never from files
that it made, and gives the same bytes every time. `--check` writes nothing and says which files differ.

For leave-one-table-out it makes everything again without each table; `left_out.toml` holds the numbers that come out
(`pto_tune.published.left_out` reads it). A step of whose tables none is left is left out, and its numbers are then as
they were published or assumed without it; and so are numbers of other steps that are no longer determined then.
Steps that stand `apart` are not made again: their numbers price no other table, and theirs nothing else prices.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from cost_models.platform import load_platform
from cost_models.schema import PLATFORM_DIR, ancestry, builtin_files, resolve
from pto_tune.calibrating.bases import check_base
from pto_tune.calibrating.calibration import NothingFitted, calibrate
from pto_tune.calibrating.parameters import parameters
from pto_tune.calibrating.published import published_rows
from pto_tune.calibrating.writing import platform_text, toml_value

if TYPE_CHECKING:
    from cost_models.number import Entry

FITS = Path(__file__).with_name("fits.toml")
LEFT_OUT = Path(__file__).with_name("left_out.toml")

_FIELDS = {"file": str, "base": str, "chip": str, "tables": list, "timing": str, "error": float, "fit": list,
           "description": str, "where": dict, "apart": bool}  # fmt: skip
_OPTIONAL = {"timing", "where", "apart"}


class MakingError(ValueError):
    """The steps are wrong, or one of them cannot be carried out."""


@dataclass(frozen=True)
class Step:
    """One calibration: `fit` as `--fit` has it, on the built-in platform `chip`, written as `file`, which inherits from
    `base`. `timing` is None where the rows are busy times of pipes or of one protocol.

    `where`: of the rows those whose configuration has one of these values. `apart`: the rows are priced by the step's
    own numbers and published ones alone; those of its own price no other table, and hardly a figure of them is
    published elsewhere. So leaving out another table changes nothing here, and leaving out this one would leave nothing
    to predict it by: it is not left out.
    """

    file: str
    base: str
    chip: str
    tables: tuple[str, ...]
    error: float
    fit: tuple[str, ...]
    description: str
    timing: str | None = None
    where: Mapping[str, Sequence[int | str]] = field(default_factory=dict)
    apart: bool = False

    def takes(self, configuration: Mapping[str, int | str]) -> bool:
        """Whether a row of the step's tables and chip is one of its own."""
        return all(configuration.get(name) in values for name, values in self.where.items())


@dataclass(frozen=True)
class Made:
    """Texts of the files by name, and by family the fitted numbers as the last file has them, or as they stand without
    the steps that were left out; without those of steps that stand apart."""

    texts: Mapping[str, str]
    numbers: Mapping[str, Mapping[str, Entry]]


def read_steps(path: Path = FITS) -> list[Step]:
    """The steps of a file, in order; MakingError where they are wrong."""
    found = []
    for i, table in enumerate(tomllib.loads(path.read_text("utf-8")).get("step", []), 1):
        wrong = sorted(table.keys() - _FIELDS.keys()) + sorted(_FIELDS.keys() - _OPTIONAL - table.keys())
        wrong += [name for name, kind in _FIELDS.items() if name in table and not isinstance(table[name], kind)]
        if not wrong and not all(isinstance(values, list) for values in table.get("where", {}).values()):
            wrong = ["where"]
        if wrong:
            raise MakingError(f"{path.name}, step {i}: {', '.join(wrong)}: expected {', '.join(_FIELDS)}")
        lists: dict[str, Any] = {"tables": tuple(table["tables"]), "fit": tuple(table["fit"])}
        found.append(Step(**{**table, **lists}))
    files = [step.file for step in found]
    for i, step in enumerate(found):
        if step.file in files[:i] or step.base in files[i:]:
            raise MakingError(f"{path.name}: {step.file} is there twice, or before its base {step.base}")
    return found


def make(steps: Sequence[Step], without: str = "", known: Made | None = None) -> Made:
    """Carry out the steps, without the rows of table `without`.

    known: what came out with all tables; steps that do not depend on the table are taken from it.

    Raises:
        MakingError: a step cannot be carried out, with the reason. With a table left out it is left out as well.
    """
    texts: dict[str, str] = {}
    with TemporaryDirectory() as folder:
        place = Path(folder)
        _copy(place, steps)
        touched: set[str] = set()
        for step in steps:
            parents = {path.stem for path in ancestry(place / f"{step.base}.toml")}
            if without in step.tables or touched & parents:
                touched.add(step.file)
            own = step.apart and without not in step.tables
            if known is not None and (own or step.file not in touched):
                text: str | None = known.texts[step.file]
            else:
                text = _carry_out(step, place, without)
            if text is not None:
                texts[step.file] = text
                (place / f"{step.file}.toml").write_text(_local(text), encoding="utf-8")
        return Made(texts, _numbers([step for step in steps if not step.apart], place))


def left_out_text(steps: Sequence[Step], made: Made) -> str:
    """The text of `left_out.toml`: by table and family the numbers that are others without the table."""
    lines = [
        "# Fitted numbers as they are without the rows of one table, by table and family, where that changes them.",
        "# Made by python -m pto_tune.published.making.",
    ]
    for table in sorted({name for step in steps if not step.apart for name in step.tables}):
        for family, numbers in make(steps, table, made).numbers.items():
            other = {k: e for k, e in numbers.items() if e.value != made.numbers[family][k].value}
            if other:
                lines += ["", f"[{table}.{family}]"]
                lines += [f"{toml_value(k)} = [{toml_value(e.value)}, {toml_value(e.unit)}]" for k, e in other.items()]
    return "\n".join(lines) + "\n"


def _copy(place: Path, steps: Sequence[Step]) -> None:
    """The hand-written platform files and, for each that is to be made, one that states nothing."""
    made = {step.file for step in steps}
    for name, path in builtin_files().items():
        if name not in made:
            (place / path.name).write_text(_local(path.read_text("utf-8")), encoding="utf-8")
    for step in steps:
        stub = f'[platform]\nname = "{step.file}"\ninherits = "./{step.base}.toml"\nabstract = true\n'
        (place / f"{step.file}.toml").write_text(stub, encoding="utf-8")


def _local(text: str) -> str:
    """A platform file that names its parent by place instead of by name."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line.startswith("inherits = "):
            (name,) = tomllib.loads(line).values()
            lines[i] = f'inherits = "./{name}.toml"'
            break
    return "\n".join(lines)


def _carry_out(step: Step, place: Path, without: str) -> str | None:
    """The text of the step's file; None where nothing is left to fit."""
    tables = [name for name in step.tables if name != without]
    if not tables:
        return None
    chip = load_platform(place / f"{step.chip}.toml")
    check_base(chip, place / f"{step.base}.toml", [n.key for p in parameters(chip, step.fit) for n in p.numbers])
    found_rows, wrong = published_rows(tables, chip)
    rows = [row for row in found_rows if step.takes(row.measurement.configuration)]
    fit = list(step.fit)
    while True:
        try:
            found = calibrate(chip, fit, rows, timing=step.timing, unknown=step.error)
            break
        except NothingFitted as error:
            if not without:
                raise MakingError(f"{FITS.name}, step {step.file}: {error}") from None
            # without the table, what the step starts from is less well known, and its rows may tell less
            fit = _without_last(fit, error)
            if not fit:
                return None
    out = [*wrong, *found.left_out]
    if out:
        raise MakingError(
            "\n".join(
                f"{one.where} is marked fit and cannot be fitted by step {step.file}: {one.reason}" for one in out
            )
        )
    return platform_text(found, PLATFORM_DIR / f"{step.file}.toml", step.base, step.description)


def _without_last(fit: Sequence[str], error: NothingFitted) -> list[str]:
    """What is left to fit: of each undetermined group without its last; nothing where that is not the reason."""
    unknown = {one.keys[-1] for one in error.undetermined}
    return [one for one in fit if one.split("=")[0] not in unknown] if unknown else []


def _numbers(steps: Sequence[Step], place: Path) -> dict[str, dict[str, Entry]]:
    """By family, what the last file of each chain has for the numbers of all its steps."""
    out: dict[str, dict[str, Entry]] = {}
    inner = {step.base for step in steps}
    for last in (step for step in steps if step.file not in inner):
        found = resolve(place / f"{last.file}.toml")
        if found.errors:
            raise MakingError("\n".join(found.errors))
        chain, name = [], last.file
        by_file = {step.file: step for step in steps}
        while name in by_file:
            chain.append(by_file[name])
            name = by_file[name].base
        keys = [key for step in reversed(chain) for fit in step.fit for key in fit.split("=")]
        out.setdefault(found.head["family"], {}).update({key: found.entries[key] for key in keys})
    return out


def made_files(steps: Sequence[Step]) -> dict[Path, str]:
    """Every file that is made, with its text."""
    made = make(steps)
    files = {PLATFORM_DIR / f"{name}.toml": text for name, text in made.texts.items()}
    return {**files, LEFT_OUT: left_out_text(steps, made)}


def differing(files: Mapping[Path, str]) -> list[Path]:
    """Those of `files` that are not there with that text."""
    return [path for path, text in files.items() if not path.is_file() or path.read_text("utf-8") != text]


def main(arguments: Iterable[str]) -> int:
    """Make the files; with `--check` only say which differ. Exit code: 1 where some do, or where a step fails."""
    given = list(arguments)
    if given not in ([], ["--check"]):
        print("usage: python -m pto_tune.published.making [--check]", file=sys.stderr)
        return 2
    try:
        files = made_files(read_steps())
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    other = differing(files)
    if given:
        for path in other:
            print(f"{path} is not what its rows make: run 'make platforms'", file=sys.stderr)
        return 1 if other else 0
    for path in other:
        path.write_text(files[path], encoding="utf-8", newline="\n")
        print(f"wrote {path}")
    if not other:
        print(f"{len(files)} files are what their rows make")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
