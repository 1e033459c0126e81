"""`pto-tune import`: a PTOAS kernel as a workload."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pto_tune.cli import options, output
from pto_tune.cli import text as text_of

Kernel = Annotated[str, typer.Argument(metavar="KERNEL.pto", help="A PTOAS kernel: MLIR text with the dialect pto.")]
Unknown = Annotated[
    str,
    typer.Option(
        "--unknown",
        metavar="refuse|price",
        help="Operations that are not known: refuse the file, or take them at a stated rule: on tiles of UB one pass "
        "of the vector unit over the largest, with tiles of the cube one move of the largest into L0B.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command `import` to `app`."""
    app.command(name="import", short_help="Read a PTOAS kernel (.pto) as a workload.")(import_)


def import_(
    kernel: Kernel,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE.json", help="Where the workload goes.", show_default="stdout"),
    ] = None,
    unknown: Unknown = "refuse",
    name: Annotated[
        str, typer.Option("--kernel", metavar="NAME", help="Which kernel, where a file has several: by a function.")
    ] = "",
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    as_json: options.Json = False,
) -> None:
    """Read a PTOAS kernel as a workload, for every command that takes one.

    Functions of kind cube and vector become the programs, integer arguments that something depends on problem sizes
    (the file gives them no values: --set does), slot_num, local_slot_num and split of every pipe tunables with the
    file's values as defaults. What was assumed is said on stderr. Commands take KERNEL.pto itself, too.

    \b
    Examples:
      pto-tune import kernel.pto -o kernel.json
      pto-tune tune kernel.json --platform ascend910b2
      pto-tune evaluate kernel.pto --set pipe0_slot_num=4
    """
    from pto_tune.kernels.reading import read_kernel
    from pto_tune.model.serial import to_json

    read = read_kernel(kernel, unknown, kernel=name)
    read.faults.stop(read.source)
    w = read.workload
    text = to_json(w, indent=2) + "\n"
    for note in read.notes:
        typer.echo(f"{kernel}: note: {text_of.printable(note)}", err=True)
    for name, places in read.unknown.items():
        lines = ", ".join(str(p.line) for p in places)
        typer.echo(f"{kernel}: note: {name} (lines {lines}) is not known: priced by the stated rule", err=True)
    if out is None:
        typer.echo(text, nl=False)
        return
    write(out, text, force)
    if as_json:
        output.as_json(
            {
                "file": str(out),
                "workload": w.name,
                "problem": {p.name: p.default for p in w.problem},
                "tunables": {t.name: t.default for t in w.tunables},
                "notes": read.notes,
                "unknown": {name: [p.line for p in places] for name, places in read.unknown.items()},
            }
        )
        return
    output.say(f"{out}: workload {w.name}, {len(w.fifos)} pipes, {sum(1 for _ in read.places)} nodes")
    for kind, named in (("problem size", w.problem), ("tunable", w.tunables)):
        for p in named:
            output.say(f"  {kind}  {p.name} = {p.default}: {p.doc}")


def write(path: Path, text: str, force: bool) -> None:
    """A file that appears whole or not at all. ValueError where one is there and `force` is not set."""
    from pto_tune.whole_file import write_whole

    if path.exists() and not force:
        raise ValueError(f"{path}: is there already: expected another name, or --force")
    write_whole(path, text.encode())
