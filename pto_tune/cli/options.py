"""Options and arguments that several commands share, and how their text is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from pto_tune.model.nodes import Workload as Model

DEFAULT_PLATFORM = "ascend910b2"

Workload = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD",
        help="A built-in workload ('pto-tune workloads' lists them), or the path of a workload's JSON or .pto file.",
    ),
]
Run = Annotated[str, typer.Argument(metavar="RUN", help="Number or name of a run, or 'latest'.")]
DEFAULT_PLATFORM_TEXT = f"{DEFAULT_PLATFORM}, or ascend950pr for a workload of 950"
Platform = Annotated[
    str | None,
    typer.Option(
        "--platform",
        metavar="NAME|FILE",
        help="The chip: a name of 'pto-tune platforms', or a platform file of your own (.toml).",
        show_default=DEFAULT_PLATFORM_TEXT,
    ),
]
PtoIsa = Annotated[
    str | None,
    typer.Option(
        "--pto-isa",
        metavar="REV",
        help=(
            "The pto-isa headers of the kernel's build: commit, date (YYYY-MM-DD) or rule set. "
            "910B: a2a3, a2a3-rendezvous, a2a3-ctor-credits, a2a3-full-period, a2a3-fixed-drain. "
            "950: a5, a5-rendezvous, a5-ctor-credits, a5-full-period, a5-local-drain. "
            "'pto-tune rules' says what they do."
        ),
        show_default="a2a3 or a5",
    ),
]
RunPlatform = Annotated[
    str | None,
    typer.Option(
        "--platform",
        metavar="NAME|FILE",
        help="The platform's file, where the run was made with one that is not built in.",
        show_default="the run's",
    ),
]
Timing = Annotated[
    str,
    typer.Option(
        "--timing",
        metavar="task|event|sync|device",
        help="How the time would be measured; decides the launch overhead that is added ('device': none).",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set a problem size or a tunable. May be given several times."),
]
Domain = Annotated[
    list[str] | None,
    typer.Option(
        "--domain",
        metavar="NAME=V1,V2,...",
        help="Values to try for a tunable instead of its default domain. May be given several times.",
    ),
]
Strategy = Annotated[
    str,
    typer.Option(
        "--strategy",
        metavar="auto|exhaustive|bounds|evolution|tpe|nsga2|qmc|random",
        help=(
            "How to search; 'auto' looks at everything where that is feasible. 'bounds' runs only what could be "
            "better than the best, and proves it."
        ),
    ),
]
Objective = Annotated[
    list[str] | None,
    typer.Option(
        "--objective",
        metavar="time|memory",
        help="What to search for; give it twice for a trade-off.",
        show_default="time",
    ),
]
Budget = Annotated[
    int | None, typer.Option("--budget", metavar="N", min=1, help="Evaluate at most so many configurations.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed; the same one gives the same search.")]
Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        envvar="PTO_TUNE_DB",
        show_default="sqlite:///pto-tune.db",
        help="Where runs are kept: sqlite:///FILE or postgresql://USER@HOST/DATABASE.",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="tcp://HOST:PORT",
        help=(
            "Run an exhaustive search on the workers of this Dask scheduler ('dask scheduler', 'dask worker', the "
            "extra 'distributed'), with the same results. It has to be trusted: who reaches its port can run code on "
            "it and here. tls:// takes the certificates of Dask's own configuration."
        ),
        show_default="threads of this machine",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of tables.")]
TakeOver = Annotated[
    bool,
    typer.Option(
        "--take-over",
        help=(
            "Take up a run that is running although its last sign of life is not a minute old, because you know that "
            "its program is gone. If it is not, it can write no more."
        ),
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")]
Row = Annotated[
    int | None,
    typer.Option(
        "--row", metavar="N", min=0, help="Row of the run, as 'pto-tune show' prints it.", show_default="best"
    ),
]


def options_follow_the_command(ctx: typer.Context) -> None:
    """ValueError where an option stands between a group and its command, whose own option it would not reach."""
    for parameter in ctx.command.params:
        source = ctx.get_parameter_source(str(parameter.name))
        if source is not None and source.name == "COMMANDLINE":
            option = parameter.opts[0]
            raise ValueError(
                f"{option} stands before {ctx.invoked_subcommand!r}: put it behind, as in "
                f"'{ctx.command_path} {ctx.invoked_subcommand} {option} ...'"
            )


def workload_named(text: str) -> Model:
    """The built-in workload of this name, or the one in the file of this path.

    ValueError names the known workloads, or every fault of the file.
    """
    from pto_tune.workloads import workload, workload_names

    if text not in workload_names() and looks_like_path(text):
        from pto_tune.workloads.files import load_workload

        return load_workload(text)
    return workload(text)


def platform_for(model: Model, given: str | None) -> str:
    """The platform that is given, else the one of the workload."""
    from pto_tune.workloads import default_platform

    return default_platform(model) if given is None else given


def looks_like_path(text: str) -> bool:
    """Whether a workload is meant as a file rather than a name."""
    from pto_tune.workloads import files

    return files.looks_like_path(text) or Path(text).is_file()


def assignments(texts: Sequence[str] | None, option: str) -> dict[str, str]:
    """`name=value` texts as a dictionary; ValueError lists those that are none or come twice."""
    found: dict[str, str] = {}
    wrong: list[str] = []
    for text in texts or ():
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name:
            wrong.append(f"{option} {text!r} is not NAME=VALUE: write for example {option} s1=8192")
        elif name in found:
            wrong.append(f"{option} gives {name!r} twice: give it once")
        else:
            found[name] = value.strip()
    if wrong:
        raise ValueError("\n".join(wrong))
    return found


def lists(texts: Sequence[str] | None, option: str) -> dict[str, list[str]]:
    """`name=v1,v2,...` texts as lists; an empty one stays empty, for the caller to refuse."""
    return {
        name: [part.strip() for part in value.split(",")] if value else []
        for name, value in assignments(texts, option).items()
    }


def whole_numbers(words: str, option: str, most: int) -> list[int]:
    """Numbers from 1 to `most` between commas; ValueError lists the words that are none."""
    found = [word.strip() for word in words.split(",")]
    # int() also takes signs, spaces, underscores and digits of other scripts
    wrong = [w for w in found if not (w.isascii() and w.isdigit() and len(w) <= 19 and 1 <= int(w) <= most)]
    if wrong:
        raise ValueError(
            f"{option} {', '.join(map(repr, wrong))}: expected whole numbers from 1 to {most} between commas, "
            f"such as {option} 4,8"
        )
    return [int(word) for word in found]


class Wishes(NamedTuple):
    """A workload, its problem sizes, and the values to try for its tunables."""

    model: Model
    problem: dict[str, int]
    domains: dict[str, list[int]]


def wishes(workload: str, set_: Sequence[str] | None, domain: Sequence[str] | None) -> Wishes:
    """What WORKLOAD, --set and --domain ask for; ValueError with everything that is wrong with them."""
    fixed = assignments(set_, "--set")
    tried = lists(domain, "--domain")
    no_name_twice(list(fixed), list(tried), "--set and --domain")
    model = workload_named(workload)
    found = values(model, {**{name: [word] for name, word in fixed.items()}, **tried})
    sizes = {p.name for p in model.problem}
    return Wishes(
        model,
        {name: found[name][0] for name in fixed if name in sizes},
        {name: column for name, column in found.items() if name in tried or name not in sizes},
    )


def values(model: Model, texts: Mapping[str, Sequence[str]]) -> dict[str, list[int]]:
    """Texts as values of the workload's problem sizes and tunables; labels stand for values.

    ValueError lists every unknown name, every text that is no value, and every value out of range.
    """
    from pto_tune.table import TableError, parameter, parse_value

    wrong: list[str] = []
    found: dict[str, list[int]] = {}
    for name, words in texts.items():
        try:
            p = parameter(model, name)
            found[name] = [parse_value(p, word) for word in words]
        except TableError as error:
            wrong += str(error).splitlines()
            continue
        outside = [value for value in found[name] if not p.minimum <= value <= p.maximum]
        if outside:
            wrong.append(f"{name} = {outside[0]} is out of range: expected {p.minimum} to {p.maximum}")
    if wrong:
        raise ValueError("\n".join(wrong))
    return found


def no_name_twice(first: Sequence[str], second: Sequence[str], options: str) -> None:
    """ValueError where a name is in both."""
    both = [name for name in first if name in second]
    if both:
        raise ValueError("\n".join(f"{name!r} is given by {options}: give it by one of them" for name in both))
