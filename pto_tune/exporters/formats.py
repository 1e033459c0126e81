"""The formats of exports: what is added to `FORMATS` is offered by the command line and by `pto_tune.export`.

A format renders recommendations and says of each what it cannot express; a whole run is exported by a `RunFormat`,
whose module is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pto_tune.exporters import losses
from pto_tune.exporters.checks import ExportError, faults
from pto_tune.exporters.writing import signed_above, signed_inside, write_all

if TYPE_CHECKING:
    import os

    from db import Run, Store
    from pto_tune.exporters.recommendation import Recommendation

    Recs = Sequence[Recommendation]

NAMESPACE = "pto_tune_config"
PREFIX = "PTO_TUNE"


@dataclass(frozen=True)
class Options:
    """What a person chooses about a file.

    Attributes:
        namespace: C++ namespace of a header.
        prefix: what names of definitions and CMake variables begin with.
        template: text of a template, and `template_name` what errors call it.
        accept_loss: whether what a format cannot express may be left out; the file then says so in comments where
            the format has them.
        by_shape: whether a header of one configuration chooses by shape, too.
        source: the bytes of a kernel file, and `source_name` what errors call it.
    """

    namespace: str = NAMESPACE
    prefix: str = PREFIX
    template: str | None = None
    template_name: str = "template"
    accept_loss: bool = False
    by_shape: bool = False
    source: bytes | None = None
    source_name: str = "kernel.pto"


@dataclass(frozen=True)
class Format:
    """A format of recommendations.

    Attributes:
        key: its name on the command line, `title` in words, `suffix` of its files with the dot.
        several: whether one file holds one recommendation, one for each problem size, or any number.
        lacks: what no file of this format can express, one sentence.
        losses: what it cannot express of a recommendation.
        body: the text without its signature, of recommendations and their losses; ExportError where there is none.
        sign: puts the signature on a body.
        needs: the file that it needs beside recommendations, "" for none.
        also: what it cannot express further, seen together with that file.
    """

    key: str
    title: str
    suffix: str
    several: Literal["one", "sizes", "any"]
    lacks: str
    losses: Callable[[Recommendation], list[str]]
    body: Callable[[Recs, Options, list[list[str]]], str]
    sign: Callable[[str], str]
    needs: Literal["", "template", "source"] = ""
    also: Callable[[Recommendation, Options], list[str]] | None = None

    def lost(self, rec: Recommendation, options: Options) -> list[str]:
        """Everything that a file of this format cannot express of a recommendation."""
        return [*self.losses(rec), *(self.also(rec, options) if self.also is not None else [])]


@dataclass(frozen=True)
class RunFormat:
    """A format of a whole run. Its module has `write_run(store, run, path, top, force) -> str`, which writes the best
    `top` configurations and returns a line that says what was written; ValueError where it cannot."""

    key: str
    title: str
    suffix: str
    module: str
    top: int

    @property
    def is_there(self) -> bool:
        """Whether its module is."""
        return find_spec(self.module) is not None

    def write(self, store: Store, run: Run, path: Path, top: int | None, force: bool) -> str:
        """Write the run; see the class."""
        written: str = import_module(self.module).write_run(store, run, path, self.top if top is None else top, force)
        return written


def _header(recs: Recs, options: Options, _: list[list[str]]) -> str:
    from pto_tune.exporters.header import header_body

    return header_body(recs, options.namespace, options.by_shape)


def _cmake(recs: Recs, options: Options, left_out: list[list[str]]) -> str:
    from pto_tune.exporters.build_files import cmake_body

    return cmake_body(recs[0], options.prefix, left_out[0])


def _definitions(recs: Recs, options: Options, _: list[list[str]]) -> str:
    from pto_tune.exporters.build_files import definitions_body

    return definitions_body(recs[0], options.prefix)


def _json(recs: Recs, _: Options, __: list[list[str]]) -> str:
    from pto_tune.exporters.document import body

    return body(recs)


def _cases(recs: Recs, _: Options, left_out: list[list[str]]) -> str:
    from pto_tune.exporters.cases import body

    return body(recs, left_out)


def _losses_of_cases(rec: Recommendation) -> list[str]:
    from pto_tune.exporters.cases import losses as of_cases

    return of_cases(rec)


def _python(recs: Recs, _: Options, left_out: list[list[str]]) -> str:
    from pto_tune.exporters.python_file import body

    return body(recs, left_out)


def _template(recs: Recs, options: Options, _: list[list[str]]) -> str:
    from pto_tune.exporters.template import body

    if options.template is None:
        raise ExportError("format template: no template is given; one by --template FILE would be right")
    return body(recs, options.template, options.template_name)


def _pto(recs: Recs, options: Options, _: list[list[str]]) -> str:
    from pto_tune.exporters.kernel_file import body

    return body(recs[0], options.source, options.source_name)


def _losses_of_pto(rec: Recommendation) -> list[str]:
    from pto_tune.exporters.kernel_file import losses as of_pto

    return of_pto(rec)


def _losses_of_source(rec: Recommendation, options: Options) -> list[str]:
    from pto_tune.exporters.kernel_file import losses_of_source

    return losses_of_source(rec, options.source, options.source_name)


def _unsigned(text: str) -> str:
    return text


def _above(comment: str, what: str) -> Callable[[str], str]:
    return lambda text: signed_above(text, comment, what)


FORMATS: tuple[Format, ...] = (
    Format(
        "header", "C++ header", ".hpp", "sizes",
        "Calls, buffers, switches that are off and warnings stand in comments; a TPipe has no SyncPeriod of its own, "
        "so the header checks the derived one.",
        losses.none, _header, _above("// ", "header"),
    ),
    Format(
        "cmake", "initial cache of CMake", ".cmake", "one",
        "Numbers and names alone: no types, and no check at compile time that the library derives the SyncPeriod.",
        losses.none, _cmake, _above("# ", "cmake"),
    ),
    Format(
        "definitions", "compile definitions, a response file", ".rsp", "one",
        "Numbers and names alone, without comments: no types and checks, no gates, no switches that are off, no "
        "warnings.",
        losses.of_definitions, _definitions, signed_inside,
    ),
    Format(
        "json", "JSON of a published schema", ".json", "any",
        "Nothing is left out.",
        losses.none, _json, signed_inside,
    ),
    Format(
        "cases", "--cases of the public flash attention scripts", ".sh", "any",
        "HEAD, S0, S1, CUBE_S0, TILE_S1, preload and mask alone: CUBE_S1 stays 128, FifoDepth 8, SyncPeriod 4 and the "
        "split TILE_UP_DOWN.",
        _losses_of_cases, _cases, _above("# ", "cases"),
    ),
    Format(
        "python", "dictionary of Python", ".py", "any",
        "The pipes of DSL kernels take no SyncPeriod (it follows from slot_num), no gates and no switches.",
        losses.of_python, _python, _above("# ", "python"),
    ),
    Format(
        "template", "template of your own", ".txt", "any",
        "What the template does not write.",
        losses.none, _template, signed_inside, "template",
    ),
    Format(
        "pto", "the kernel file, patched", ".pto", "one",
        "slot_num, local_slot_num, slot sizes, splits and reserved buffers alone: a .pto has no SyncPeriod, no gates, "
        "no switches and no EN_UNIT_FLAG, and a larger ring in global memory is for who launches the kernel.",
        _losses_of_pto, _pto, _unsigned, "source", _losses_of_source,
    ),
)  # fmt: skip

RUN_FORMATS: tuple[RunFormat, ...] = (
    RunFormat(
        "optuna-journal", "journal of Optuna with the run's best", ".log", "pto_tune.exporters.optuna_journal", 10_000
    ),
)


def names() -> list[str]:
    """The keys of all formats that are there."""
    return [f.key for f in FORMATS] + [f.key for f in RUN_FORMATS if f.is_there]


def format_named(key: str) -> Format:
    """The format of recommendations of this key. ValueError names those that there are."""
    for found in FORMATS:
        if found.key == key:
            return found
    raise ValueError(f"there is no export format {key!r}: choose one of {', '.join(names())}")


def run_format_named(key: str) -> RunFormat | None:
    """The format of runs of this key, None where there is none."""
    return next((f for f in RUN_FORMATS if f.key == key and f.is_there), None)


def render(form: Format, recs: Recs, options: Options | None = None) -> str:
    """The signed text of recommendations; of equal ones the same bytes.

    Raises:
        ExportError: with everything that forbids it: no recommendation or too many for the format, verdicts other than
            ok, values and names that do not fit, what the format would leave out (unless accepted).
    """
    chosen = options or Options()
    found = _count_faults(form, len(recs))
    left_out = [form.lost(rec, chosen) for rec in recs]
    for index, (rec, lost) in enumerate(zip(recs, left_out, strict=True)):
        at = f"configuration {index + 1}: " if len(recs) > 1 else ""
        found += [f"{at}{fault}" for fault in faults(rec, chosen.namespace)]
        if not chosen.accept_loss:
            found += [f"{at}the format {form.key!r} cannot express {one}" for one in lost]
    if form.key in ("cmake", "definitions"):
        from pto_tune.exporters.build_files import prefix_fault

        wrong = prefix_fault(chosen.prefix)
        found += [f"prefix {wrong}"] if wrong else []
    if found:
        raise ExportError("\n".join(dict.fromkeys(found)))
    return form.sign(form.body(recs, chosen, left_out))


def _count_faults(form: Format, n: int) -> list[str]:
    if n == 0:
        return ["there is no configuration to export: one would be right"]
    if n > 1 and form.several == "one":
        return [f"a file of the format {form.key!r} holds one configuration, not {n}: a file for each would be right"]
    return []


def write(
    form: Format,
    recs: Recs,
    path: str | os.PathLike[str],
    options: Options | None = None,
    force: bool = False,
) -> Path:
    """Render and write one file; see `render` and `writing.write_all`."""
    return write_all([(Path(path), render(form, recs, options))], force, _what(form))[0]


def write_each(
    form: Format, recs: Recs, paths: Sequence[Path], options: Options | None = None, force: bool = False
) -> list[Path]:
    """Render every recommendation into a file of its own; nothing is written where one of them cannot be."""
    texts: list[Any] = [render(form, [rec], options) for rec in recs]
    return write_all(list(zip(paths, texts, strict=True)), force, _what(form))


def _what(form: Format) -> str:
    return "header" if form.key == "header" else f"{form.title}"
