"""`pto-tune robust`: one configuration for several sizes, platforms, or all that the numbers of a platform may be."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Annotated

import typer

from pto_tune.cli import errors, options, output, text
from pto_tune.cli.progress import Bar

if TYPE_CHECKING:
    from pto_tune.search.robust import Robust


def register(app: typer.Typer) -> None:
    """Add the command `robust` to `app`."""
    app.command(name="robust", short_help="Find one configuration for several sizes or platforms.")(robust)


def robust(
    workload: options.Workload,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=V1,V2,...",
            help="Values of a problem size, every one a scenario; or of a tunable. May be given several times.",
        ),
    ] = None,
    scenario: Annotated[
        list[str] | None,
        typer.Option(
            "--scenario",
            metavar="NAME=VALUE,...",
            help="Problem sizes that belong together, one scenario. May be given several times.",
        ),
    ] = None,
    platform: Annotated[
        list[str] | None,
        typer.Option(
            "--platform",
            metavar="NAME|FILE",
            help="A chip on which it is to be good. May be given several times.",
            show_default=options.DEFAULT_PLATFORM_TEXT,
        ),
    ] = None,
    domain: options.Domain = None,
    samples: Annotated[
        int,
        typer.Option(
            "--samples", metavar="N", min=0, help="Samples of what the numbers of each platform may be; 0: none."
        ),
    ] = 0,
    pto_isa: options.PtoIsa = None,
    timing: options.Timing = "task",
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the samples.")] = 0,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many configurations to show.")] = 5,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the configuration that loses least, in the worst case, over several sizes, platforms, or both.

    The regret of a configuration in a scenario is its time over the best time of that scenario, less 1. Every value
    of a size of --set is combined with every other and with every platform; --scenario gives sizes that belong
    together. All legal configurations are evaluated in every scenario. With --samples, the best of them are also
    run on samples of what the numbers of each platform may be.

    \b
    Examples:
      pto-tune robust flash_attention --scenario s0=1024,s1=1024 --scenario s0=8192,s1=8192
      pto-tune robust gemm --set m=1536,6144 --platform ascend910b1 --platform ascend910b3 --json
      pto-tune robust flash_attention --samples 64

    Exit code 1: no configuration is legal in every scenario.
    """
    given, tried = options.lists(set_, "--set"), options.lists(domain, "--domain")
    options.no_name_twice(list(given), list(tried), "--set and --domain")
    model = options.workload_named(workload)
    values = options.values(model, {**given, **tried})
    sizes = {p.name for p in model.problem}
    chosen = [name for name in given if name in sizes]
    together = [_together(words) for words in scenario or ()]
    for own in together:
        options.no_name_twice(list(own), list(given), "--scenario and --set")
        wrong = [name for name in own if name not in sizes and name in {t.name for t in model.tunables}]
        if wrong:
            raise ValueError(f"--scenario {', '.join(wrong)}: a scenario has problem sizes alone; give --domain")
    pairs = [{n: column[0] for n, column in options.values(model, own).items()} for own in together] or [{}]
    combined = product(*(values[name] for name in chosen))
    every = [{**dict(zip(chosen, some, strict=True)), **own} for some in combined for own in pairs]
    with Bar(f"comparing scenarios of {model.name}", quiet=quiet):
        from pto_tune.search.robust import robust_choice

        found = robust_choice(
            model,
            sizes=every,
            platforms=tuple(platform or (options.platform_for(model, None),)),
            domains={n: column for n, column in values.items() if n not in sizes},
            pto_isa=pto_isa,
            timing=timing,
            samples=samples,
            seed=seed,
            top=top,
        )
    if as_json:
        output.as_json(found.as_plain())
    else:
        show(found)
    if found.why_not:
        raise errors.CheckFailed(f"{found.why_not}: give other sizes, other platforms, or other values with --domain")


def _together(words: str) -> dict[str, list[str]]:
    """`s0=1024,s1=1024` as values by name."""
    return {name: [value] for name, value in options.assignments(words.split(","), "--scenario").items()}


def show(found: Robust) -> None:
    """The answer on the screen."""
    output.say(f"{found.method}; {found.legal:,} configurations are ok in all of them")
    if found.found:
        every = [*(g.values for g in found.found), *(o.values for o in found.own)]
        varied = [n for n in every[0] if len({v[n] for v in every}) > 1]
        fixed = {n: v for n, v in every[0].items() if n not in varied}
        if fixed:
            output.say(f"the same in all below: {text.settings(fixed)}")
        output.heading("Least worst regret")
        numbers = list(range(1, len(found.scenarios) + 1))
        output.table(
            [*varied, "worst", *(f"({i})" for i in numbers)],
            ([*(g.values[n] for n in varied), percent(g.worst), *map(percent, g.regret)] for g in found.found),
            right=["worst", *(f"({i})" for i in numbers)],
        )
    output.heading("Scenarios, and what the best of each costs elsewhere")
    own = {o.scenario: o for o in found.own}
    heads = [f"({i + 1})" for i in range(len(found.scenarios))]
    lines = []
    for i, (name, best) in enumerate(zip(found.scenarios, found.best_us, strict=True)):
        cells = ["–"] * len(heads)
        if name in own:
            cells = [percent(r) if w == "ok" else w for r, w in zip(own[name].regret, own[name].verdict, strict=True)]
        lines.append([f"({i + 1})", name, "–" if math.isnan(best) else text.microseconds(best), *cells])
    output.table(["", "scenario", "best (us)", *heads], lines, right=["best (us)", *heads])


def percent(share: float) -> str:
    """A regret as "best" or "+3.2 %"."""
    return "best" if abs(share) < 5e-4 else f"{100 * share:+.1f} %"
