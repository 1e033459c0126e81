"""`pto-tune export`: configurations of runs as files for a kernel's build."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import chosen, options, output
from pto_tune.cli.errors import CheckFailed

if TYPE_CHECKING:
    from db import Run
    from pto_tune.exporters.formats import Format, Options, RunFormat
    from pto_tune.exporters.recommendation import Recommendation

NAMESPACE = "pto_tune_config"
STDOUT = "-"


def register(app: typer.Typer) -> None:
    """Add the command `export` to `app`."""
    app.command(name="export", short_help="Write a configuration for a build: header, CMake, JSON ...")(export)


def _schema(wanted: bool) -> None:
    if wanted:
        from pto_tune.exporters.document import schema_text

        typer.echo(schema_text(), nl=False)
        raise typer.Exit


def _cmake_dir(wanted: bool) -> None:
    if wanted:
        from pto_tune.exporters.cmake_package import folder

        typer.echo(str(folder()))
        raise typer.Exit


def _formats(wanted: bool) -> None:
    if wanted:
        from pto_tune.exporters.formats import FORMATS, RUN_FORMATS

        rows = [[f.key, f.title, f.suffix, _HOLDS[f.several], f.lacks] for f in FORMATS]
        rows += [[f.key, f.title, f.suffix, f"best {f.top:,}", ""] for f in RUN_FORMATS if f.is_there]
        output.table(["format", "what it is", "suffix", "holds", "cannot express"], rows)
        raise typer.Exit


_HOLDS = {"one": "one", "sizes": "one a size", "any": "any number"}


def export(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN...",
            help="Number or name of a run, 'latest', or a JSON file of this command. Several make a table.",
        ),
    ] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="header|cmake|definitions|json|cases|python|template|pto|optuna-journal",
            help="What to write; --formats says what each of them cannot express.",
        ),
    ] = "header",
    row: Annotated[
        int | None,
        typer.Option(
            "--row",
            "--config",
            metavar="N",
            min=0,
            help="Row of the run, as 'pto-tune show' prints it.",
            show_default="best",
        ),
    ] = None,
    best: Annotated[bool, typer.Option("--best", help="The best configuration (the default).")] = False,
    pareto: Annotated[bool, typer.Option("--pareto", help="All of the front of time and on-chip memory.")] = False,
    robust: Annotated[
        bool,
        typer.Option(
            "--robust",
            help="The configuration that loses least in the worst case: of one run over what the numbers of its "
            "platform may be, of several over their sizes and platforms.",
        ),
    ] = False,
    samples: Annotated[
        int | None,
        typer.Option(
            "--samples",
            metavar="N",
            min=0,
            help="With --robust: samples of each platform's numbers.",
            show_default="64 for one run, 0 for several",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where to write; '-' prints. {row} in the name makes a file for each configuration.",
            show_default="pto_tune_<workload>.<suffix>",
        ),
    ] = None,
    namespace: Annotated[
        str, typer.Option("--namespace", metavar="NS", help="C++ namespace of everything in the header.")
    ] = NAMESPACE,
    by_shape: Annotated[
        bool, typer.Option("--by-shape", help="The header chooses by problem size, also for a single one.")
    ] = False,
    prefix: Annotated[
        str, typer.Option("--prefix", metavar="NAME", help="What names of cmake and definitions begin with.")
    ] = "PTO_TUNE",
    template: Annotated[
        Path | None, typer.Option("--template", metavar="FILE", help="A Jinja template of your own.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--source", metavar="KERNEL.pto", help="The kernel file that the run is of, for --format pto to patch."
        ),
    ] = None,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Write although the format cannot express everything.")
    ] = False,
    date: Annotated[
        bool, typer.Option("--date", help="Name the day in the file (SOURCE_DATE_EPOCH is respected).")
    ] = False,
    top: Annotated[
        int | None, typer.Option("--top", metavar="N", min=1, help="Configurations in a format of whole runs.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite a file that was changed by hand or is not ours.")
    ] = False,
    platform: options.RunPlatform = None,
    db: options.Db = None,
    formats: Annotated[  # noqa: ARG001
        bool, typer.Option("--formats", callback=_formats, is_eager=True, help="List the formats and exit.")
    ] = False,
    schema: Annotated[  # noqa: ARG001
        bool, typer.Option("--schema", callback=_schema, is_eager=True, help="Print the schema of the JSON and exit.")
    ] = False,
    cmake_dir: Annotated[  # noqa: ARG001
        bool,
        typer.Option("--cmake-dir", callback=_cmake_dir, is_eager=True, help="Print where the CMake package is; exit."),
    ] = False,
) -> None:
    """Write configurations of runs for a kernel's build: C++ header, CMake, definitions, JSON, cases, Python, .pto.

    A header has constants, TPipe and TMPipe aliases and checks at compile time; it does not compile for another
    platform family, nor with a pipe library that derives another SyncPeriod than the recommended one. Several runs of
    one workload become one header that chooses by problem size. A JSON file can be committed and exported again
    without store and network. What a format cannot express is refused. The same configuration gives the same bytes.

    \b
    Examples:
      pto-tune export latest -o best.hpp
      pto-tune export 3 --row 118 --namespace my_kernel::config
      pto-tune export fa-1024 fa-4096 -o fa.hpp
      pto-tune export latest --format json -o fa.json
      pto-tune export fa.json --format cmake -o fa.cmake
      pto-tune export latest --pareto --format header -o 'front-{row}.hpp'
      pto-tune export latest --robust -o robust.hpp
      pto-tune export latest --format pto --source kernel.pto -o tuned.pto

    Exit code 1: the configuration is unsafe, or no file of the format can carry it.
    """
    if not runs:
        raise ValueError("no RUN is given: a number or name of 'pto-tune runs list', 'latest', or a JSON file of ours")
    pick = chosen.Pick(row, best, pareto, platform, _day() if date else None, robust, samples)
    pick.check()
    from pto_tune.exporters.formats import format_named, run_format_named

    whole = run_format_named(format_)
    if whole is not None:
        _write_run(whole, runs, pick, out, top, force, db)
        return
    form = format_named(format_)
    if top is not None:
        raise ValueError(f"--top is of formats of whole runs, not of {form.key!r}: --pareto takes several")
    chosen_options = _options(form, namespace, prefix, template, accept_loss, by_shape, source)
    recs = chosen.recommendations(runs, pick, db)
    target = out or _default(form, recs, template)
    written = _write(form, recs, target, chosen_options, force)
    if written and accept_loss:
        for lost in dict.fromkeys(lost for rec in recs for lost in form.lost(rec, chosen_options)):
            output.say(f"left out: {lost}")
    for path, rec in written:
        output.say(f"wrote {path} ({_source(rec, recs, len(written))}{_of(form, chosen_options)})")


def write(run: Run, entry: dict[str, Any], given: str | None, target: Path, namespace: str, force: bool) -> Path:
    """Write the header of one stored configuration; `given` is a platform instead of the run's own.

    CheckFailed: it cannot be exported, every reason a line. ValueError: the namespace or the file.
    """
    from pto_tune.exporters.formats import format_named

    form = format_named("header")
    chosen_options = _options(form, namespace, "PTO_TUNE", None, False, False)
    rec = chosen.recommendation(run, entry, chosen.Pick(platform=given))
    return _write(form, [rec], target, chosen_options, force)[0][0]


def _options(
    form: Format,
    namespace: str,
    prefix: str,
    template: Path | None,
    accept_loss: bool,
    by_shape: bool,
    source: Path | None = None,
) -> Options:
    """ValueError: names that a file cannot have, a template that is missing or not wanted."""
    from pto_tune.exporters.build_files import prefix_fault
    from pto_tune.exporters.formats import Options
    from pto_tune.exporters.names import namespace_fault

    wrong = namespace_fault(namespace)
    if wrong is not None:
        raise ValueError(f"--namespace {namespace!r}: {wrong}; a name such as {NAMESPACE!r} would be right")
    wrong = prefix_fault(prefix)
    if wrong is not None:
        raise ValueError(f"--prefix: {wrong}")
    if (form.key == "template") != (template is not None):
        raise ValueError("--format template and --template FILE belong together: give both or neither")
    text = None
    if template is not None:
        from pto_tune.exporters.template import read_template

        text = read_template(template)
    if (form.needs == "source") != (source is not None):
        raise ValueError("--format pto and --source KERNEL.pto belong together: give both or neither")
    raw = None
    if source is not None:
        from pto_tune.kernels.guards import load_bytes

        raw = load_bytes(source)
    return Options(namespace, prefix, text, str(template), accept_loss, by_shape, raw, str(source))


def _write(
    form: Format, recs: list[Recommendation], target: Path, chosen_options: Options, force: bool
) -> list[tuple[Path, Recommendation]]:
    """Write the files, or print the only one; what was written, each with its first configuration.

    CheckFailed: what cannot be exported, every reason a line. ValueError: the files.
    """
    from pto_tune.exporters.checks import ExportError
    from pto_tune.exporters.formats import render
    from pto_tune.exporters.writing import write_all

    one_each = "{row}" in target.name
    try:
        if one_each:
            paths = [target.with_name(target.name.replace("{row}", _number(rec))) for rec in recs]
            texts = [render(form, [rec], chosen_options) for rec in recs]
        else:
            paths, texts = [target], [render(form, recs, chosen_options)]
    except ExportError as error:
        hint = _hint(form, recs, chosen_options)
        raise CheckFailed(f"{error}{hint}") from None
    if str(target) == STDOUT:
        typer.echo(texts[0], nl=False)
        return []
    write_all(list(zip(paths, texts, strict=True)), force, "header" if form.key == "header" else form.title)
    return list(zip(paths, recs, strict=True)) if one_each else [(target, recs[0])]


def _hint(form: Format, recs: list[Recommendation], chosen_options: Options) -> str:
    if len(recs) > 1 and form.several != "any":
        return "\n-o 'NAME-{row}" + form.suffix + "' would write a file for each configuration"
    if not chosen_options.accept_loss and any(form.lost(rec, chosen_options) for rec in recs):
        return "\n--accept-loss would write the rest"
    return ""


def _number(rec: Recommendation) -> str:
    if rec.row is None:
        raise ValueError("{row} in the name of the file needs configurations of runs: this one has no row")
    return str(rec.row)


def _default(form: Format, recs: list[Recommendation], template: Path | None) -> Path:
    suffix = form.suffix
    if template is not None:
        suffix = template.with_suffix("").suffix if template.suffix in (".j2", ".jinja", ".jinja2") else suffix
    return Path(f"pto_tune_{_plain(recs[0].workload)}{suffix or form.suffix}")


def _plain(name: str) -> str:
    """A name as part of a file's name: no separators, and nothing that a shell reads otherwise."""
    return re.sub(r"[^\w.+-]+", "-", name)[:60]


def _source(rec: Recommendation, recs: list[Recommendation], files: int) -> str:
    if files == 1 and len(recs) > 1:
        return f"{len(recs)} configurations"
    if rec.chosen is not None:
        return rec.chosen
    return f"row {rec.row} of run {rec.run}" if rec.row is not None else f"{rec.workload} on {rec.platform}"


def _of(form: Format, chosen_options: Options) -> str:
    return f", namespace {chosen_options.namespace}" if form.key == "header" else ""


def _write_run(
    whole: RunFormat, runs: list[str], pick: chosen.Pick, out: Path | None, top: int | None, force: bool, db: str | None
) -> None:
    """Write a whole run in a format of its own. ValueError: options that do not fit, or what the format refuses."""
    if pick != chosen.Pick():
        raise ValueError(f"--format {whole.key} takes a whole run: --top says how much of it")
    if len(runs) > 1 or chosen.is_file(runs[0]):
        raise ValueError(f"--format {whole.key} takes one run of the store")
    from db import open_store

    with open_store(db, create=False) as store:
        found = store.find_run(runs[0])
        target = out or Path(f"pto_tune_{_plain(found.workload)}{whole.suffix}")
        output.say(whole.write(store, found, target, top, force))


def _day() -> str:
    """Today in UTC, or the day of SOURCE_DATE_EPOCH."""
    import os
    from datetime import UTC, datetime

    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given:
        return f"{datetime.now(UTC):%Y-%m-%d}"
    if not (given.isascii() and given.isdigit() and len(given) < 12):
        raise ValueError(f"SOURCE_DATE_EPOCH is {given!r}: seconds since 1970 would be right")
    return f"{datetime.fromtimestamp(int(given), UTC):%Y-%m-%d}"
