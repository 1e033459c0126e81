"""`pto-tune calibrate`: numbers of a platform fitted to measurements, as a new platform file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import errors, options, output, text
from pto_tune.cli.progress import Bar

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.calibrating.calibration import Calibration, Errors, FittedNumber
    from pto_tune.calibrating.rows import LeftOut, Located
    from pto_tune.model.nodes import Workload as Model

SHOWN = 30
"""Rows left out that are named one by one; the rest is counted."""

Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--measurements",
        metavar="FILE",
        help="Measurements as 'pto-tune measure import' takes them; several times for several files.",
        show_default="those of the store",
    ),
]
OfWorkload = Annotated[
    str | None,
    typer.Option(
        "--workload",
        metavar="NAME|FILE",
        help="Of the store: only measurements of this workload. Of files: the workload of rows that name none.",
        show_default=False,
    ),
]
OfTiming = Annotated[
    str | None,
    typer.Option(
        "--timing",
        metavar="task|event|sync|device",
        help="The timing protocol to fit where there are several; in files also that of rows that name none.",
        show_default="the only one",
    ),
]


OfTables = Annotated[
    list[str] | None,
    typer.Option(
        "--published",
        metavar="TABLE[,TABLE]",
        help="The rows marked 'fit' of published tables ('pto-tune validate') instead; several times for several.",
        show_default=False,
    ),
]
Base = Annotated[
    str | None,
    typer.Option(
        "--base",
        metavar="NAME|FILE",
        help="The file that the new one inherits from, one that the platform inherits from: the new one is abstract, "
        "for all relatives to inherit.",
        show_default="the platform",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command `calibrate` to `app`."""
    app.command(name="calibrate", short_help="Fit numbers of a platform to measurements.")(calibrate)


def calibrate(
    ctx: typer.Context,
    fit: Annotated[
        list[str],
        typer.Option(
            "--fit",
            metavar="KEY[=KEY]",
            help="A number to fit ('pto-tune platforms show'), or several with one value; several times.",
        ),
    ],
    platform: Annotated[
        str,
        typer.Option(
            "--platform",
            metavar="NAME|FILE",
            help="The chip: a name of 'pto-tune platforms', or a platform file of your own (.toml).",
        ),
    ] = options.DEFAULT_PLATFORM,
    measurements: Files = None,
    mapping: Annotated[
        Path | None, typer.Option("--map", metavar="FILE", help="For op summaries of msprof: what each op was.")
    ] = None,
    db: options.Db = None,
    published: OfTables = None,
    workload: OfWorkload = None,
    timing: OfTiming = None,
    error: Annotated[
        float | None,
        typer.Option(
            "--error",
            metavar="SHARE",
            help="Relative standard error of measurements that say nothing about their spread.",
            show_default="0.03",
        ),
    ] = None,
    base: Base = None,
    out: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="The new platform file (.toml).", show_default="none"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Fit numbers of a platform to measured times and write them as a new platform file that inherits from it.

    Only what the measurements determine is fitted: a number without influence, and numbers that cannot be told apart,
    are named together with the measurement that would help. A specification is never moved, and no number leaves its
    published range. Rows of another chip, of another timing protocol, or faster than any overhead-free run could be are
    named and left out. The same measurements give the same file, to the byte.

    \b
    Examples:
      pto-tune calibrate --platform ascend910b2 --fit dma.gm_to_ub.rate --measurements board.csv -o my-board.toml
      pto-tune calibrate --fit launch.event --fit vector.exp.slope --workload flash_attention --timing event
      pto-tune calibrate --platform ascend910b1 --published gemm --fit dma.l1_to_l0a.startup=dma.l1_to_l0b.startup
      pto-tune evaluate flash_attention --platform my-board.toml

    Exit code 1: nothing could be fitted.
    """
    from cost_models.platform import load_platform, platform_names
    from pto_tune.calibrating.bases import base_file, check_base
    from pto_tune.calibrating.calibration import NothingFitted
    from pto_tune.calibrating.calibration import calibrate as run
    from pto_tune.calibrating.parameters import parameters
    from pto_tune.calibrating.rows import UNKNOWN
    from pto_tune.calibrating.writing import check_target, write_platform
    from pto_tune.measuring.protocols import protocol

    if measurements and _given(ctx, "db"):
        raise ValueError("--measurements and --db are both given: give the one that holds the measurements")
    if published and (measurements or mapping or workload or _given(ctx, "db")):
        raise ValueError("--published stands alone: leave out --measurements, --map, --db and --workload")
    if mapping is not None and not measurements:
        raise ValueError("--map is for files of --measurements: leave it out, or give --measurements FILE")
    chip = load_platform(platform)
    chosen = None if timing is None else protocol(timing)
    if out is not None:
        check_target(out, chip, force)
    parent = None if base is None else base_file(base)
    if parent is not None:
        check_base(chip, parent, [n.key for p in parameters(chip, fit) for n in p.numbers])
    own = options.workload_named(workload) if workload is not None else None
    with Bar(f"fitting {_numbers(len(fit))}", quiet=quiet):
        if published:
            from pto_tune.calibrating.published import published_rows

            tables = [name.strip() for names in published for name in names.split(",")]
            located, faulty = published_rows(tables, chip if chip.name in platform_names() else None)
        elif measurements:
            located, faulty = _of_files(measurements, mapping, chip, own, timing)
        else:
            located, faulty = _of_store(db, chip, own)
        try:
            named = {} if own is None else {own.name: own}
            unknown = UNKNOWN if error is None else error
            found = run(chip, fit, located, timing=chosen, workloads=named, unknown=unknown)
        except NothingFitted as refusal:
            _complain([*faulty, *refusal.left_out])
            raise errors.CheckFailed(str(refusal)) from None
    if out is not None:
        write_platform(found, out, force, parent)
    left_out = [*faulty, *found.left_out]
    if as_json:
        output.as_json(_facts(found, left_out, out))
    else:
        _show(found, left_out, out)


def _given(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _of_files(
    files: Sequence[Path], mapping: Path | None, chip: Platform, own: Model | None, timing: str | None
) -> tuple[list[Located], list[LeftOut]]:
    """The measurements of files, and rows that are none. Rows that say nothing of their chip are of the platform."""
    from cost_models.platform import platform_names
    from pto_tune.calibrating.rows import LeftOut, Located, names_chip
    from pto_tune.measuring.reading import read_measurements

    default = chip.name if chip.name in platform_names() else chip
    located: list[Located] = []
    faulty: list[LeftOut] = []
    for file in files:
        found, faults = read_measurements(file, mapping=mapping, workload=own, platform=default, timing=timing)
        vague = [m.digest for m in found if m.platform == chip.name and not names_chip(m.soc, chip)]
        if vague:
            # the platform may come from the option, which says nothing of a row that names its chip in other words
            stated, _ = read_measurements(file, mapping=mapping, workload=own, timing=timing)
            vague = list(set(vague) - {m.digest for m in stated})
        for i, m in enumerate(found, 1):
            where = f"{file}, measurement {i}"
            if m.digest in vague:
                reason = f"its soc is {m.soc!r}, which is not certainly {chip.soc}: give a column 'platform', if it is"
                faulty.append(LeftOut(where, reason))
            else:
                located.append(Located(where, m))
        faulty += [
            LeftOut(str(file) if fault.row is None else f"{file}, row {fault.row}", fault.text) for fault in faults
        ]
    return located, faulty


def _of_store(db: str | None, chip: Platform, own: Model | None) -> tuple[list[Located], list[LeftOut]]:
    """The measurements of a store that are of the platform's family."""
    from db import open_store
    from pto_tune.calibrating.rows import Located

    with open_store(db, create=False) as store:
        found = store.measurements(family=chip.family, workload=None if own is None else own.name)
    return [Located(f"measurement {m.id}", m) for m in found], []


def _complain(left_out: Sequence[LeftOut]) -> None:
    for one in left_out[:SHOWN]:
        errors.complain(f"{one.where}: {one.reason}")
    if len(left_out) > SHOWN:
        errors.complain(f"{len(left_out) - SHOWN:,} more rows are left out")


def _show(c: Calibration, left_out: Sequence[LeftOut], out: Path | None) -> None:
    n = len(c.rows)
    output.say(f"{c.platform.name}, timing {c.timing}: {_numbers(len(c.numbers))} fitted to {_measurements(n)}")
    if not c.improved:
        output.say("no other values fit better than those that the platform has")
    output.heading("Numbers")
    output.table(
        ["number", "unit", "before", "after", "std. error", "range", ""],
        (
            [x.key, x.unit, f"{x.before:.6g}", f"{x.after:.6g}", f"{x.standard_error:.2g}", _range(x), _hit(x)]
            for x in c.numbers
        ),
        right=["before", "after", "std. error"],
    )
    output.heading("Errors of the predicted times")
    output.table(
        ["", "median", "90 %", "worst"],
        (
            [name, text.percent(e.median), text.percent(e.p90), text.percent(e.worst)]
            for name, e in (("before", c.before), ("after", c.after))
        ),
        right=["median", "90 %", "worst"],
    )
    output.say()
    output.say(_scatter(c))
    if left_out:
        output.heading("Left out")
    for one in left_out[:SHOWN]:
        output.say(f"{one.where}: {one.reason}")
    if len(left_out) > SHOWN:
        output.say(f"{len(left_out) - SHOWN:,} more ('--json' has them all)")
    output.say()
    if out is None:
        output.say("nothing was written: give -o FILE.toml to keep the numbers as a platform")
    else:
        output.say(f"wrote {out}")


def _scatter(c: Calibration) -> str:
    if c.degrees_of_freedom <= 0:
        return "there are as many numbers as measurements: nothing is left to check the fit with"
    return (
        f"the measurements scatter around the fit {c.scatter:.2g} times as far as their spreads say"
        f"{'; the standard errors are stretched by as much' if c.scatter > 1 else ''}"
    )


def _range(n: FittedNumber) -> str:
    if n.low is None and n.high is None:
        return text.NOTHING
    low, high = ("" if x is None else f"{x:.6g}" for x in (n.low, n.high))
    return f"{low} to {high}".strip()


def _hit(n: FittedNumber) -> str:
    words = [f"as {n.tied_to}"] if n.tied_to else []
    words += [f"at its {n.bound_hit} end, the truth may lie beyond"] if n.bound_hit else []
    if n.vague:
        words.append("less certain than before")
    return "; ".join(words)


def _numbers(n: int) -> str:
    return f"{n} number{'' if n == 1 else 's'}"


def _measurements(n: int) -> str:
    return f"{n:,} measurement{'' if n == 1 else 's'}"


def _facts(c: Calibration, left_out: Sequence[LeftOut], out: Path | None) -> dict[str, Any]:
    from pto_tune.cli.measure import measurement_facts

    return {
        "platform": c.platform.name,
        "file": None if out is None else str(out),
        "timing": c.timing,
        "improved": c.improved,
        "numbers": [
            {
                "key": n.key,
                "unit": n.unit,
                "before": n.before,
                "after": n.after,
                "standard_error": n.standard_error,
                "low": n.low,
                "high": n.high,
                "bound_hit": n.bound_hit or None,
                "vague": n.vague,
                "tied_to": n.tied_to or None,
            }
            for n in c.numbers
        ],
        "covariance": c.covariance,
        "before": _errors(c.before),
        "after": _errors(c.after),
        "degrees_of_freedom": c.degrees_of_freedom,
        "scatter": c.scatter,
        "evaluations": c.evaluations,
        "rows": [
            {
                "where": f.row.located.where,
                **measurement_facts(f.row.located.measurement),
                "quantity": f"busy {f.row.located.pipe}" if f.row.located.pipe else "time",
                "measured_us": f.row.measured_us,
                "before_us": f.before_us,
                "after_us": f.after_us,
                "residual": f.residual,
                "standard_error": f.row.error,
            }
            for f in c.rows
        ],
        "left_out": [{"where": one.where, "reason": one.reason} for one in left_out],
    }


def _errors(e: Errors) -> dict[str, float]:
    return {"median": e.median, "p90": e.p90, "worst": e.worst, "chi_square": e.chi_square}
