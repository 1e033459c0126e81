"""`pto-tune space`: how large a space is, how much of it is legal, and what a search would do with it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import options, output

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.spaces.survey import Survey


def register(app: typer.Typer) -> None:
    """Add the command `space` to `app`."""
    app.command(name="space", short_help="Count the legal configurations of a space before a run.")(space)


def space(
    workload: options.Workload,
    platform: options.Platform = None,
    pto_isa: options.PtoIsa = None,
    set_: options.Set = None,
    domain: options.Domain = None,
    seconds: Annotated[
        float,
        typer.Option("--seconds", metavar="S", min=0.0, help="Count at most so long where it cannot be done at once."),
    ] = 60.0,
    as_json: options.Json = False,
) -> None:
    """Count the configurations of a space: candidates, legal ones, different ones, and what rules refuse.

    Legal is what no static rule refuses; hangs, races and overwritten tiles show in a search alone. Different
    are those whose evaluations are not the same by construction. The time of a search is what its evaluations
    take at the rate of a sample, without the sampler's own time and the store.

    \b
    Examples:
      pto-tune space flash_attention --set s0=2048 --set s1=2048
      pto-tune space gemm --domain grid_m=1,2,3,4,6,8 --platform ascend910b1 --json
    """
    model, sizes, domains = options.wishes(workload, set_, domain)

    from cost_models.platform import load_platform
    from pto_tune.evaluation import Problem
    from pto_tune.space import space as space_of
    from pto_tune.spaces.survey import survey

    problem = Problem.of(model, load_platform(options.platform_for(model, platform)), pto_isa)
    known = survey(problem, space_of(model, sizes, domains), seconds=seconds)
    if as_json:
        output.as_json(as_plain(problem, known))
    else:
        show(problem, known)


def as_plain(problem: Problem, known: Survey) -> dict[str, Any]:
    """The answer for --json."""
    count = known.count
    return {
        "workload": problem.workload.name,
        "platform": problem.platform.name,
        "rule_set": problem.rule_set.name,
        "candidates": count.size,
        "legal": count.low if count.exact else None,
        "legal_low": count.low,
        "legal_high": count.high,
        "distinct": known.distinct,
        "refused": count.refused,
        "row_by_row": list(known.late),
        "seconds": known.seconds,
        "strategy": known.plan.strategy,
        "budget": known.plan.budget,
        "rate_per_s": known.rate_per_s or None,
        "rate_sample": known.sampled,
        "about_s": known.about_s,
        "cores": cores(),
    }


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def show(problem: Problem, known: Survey) -> None:
    """The answer on the screen."""
    count = known.count
    output.say(f"{problem.workload.name} on {problem.platform.name}, rule set {problem.rule_set.name}")
    output.say(f"{count.size:,} candidates")
    share = f"{100 * count.low / count.size:.3g} %"
    if count.exact:
        output.say(f"{count.low:,} legal ({share})")
    else:
        output.say(f"{count.low:,} to {count.high:,} legal: the time was over before all were looked at")
    if known.distinct is not None:
        output.say(f"{known.distinct:,} different ones")
    elif count.high:
        output.say("not told apart: too many, or the time was over")
    if known.late:
        output.say(f"looked at row by row: {', '.join(known.late)}")
    output.say(f"counted in {known.seconds:.2f} s")
    if count.refused:
        output.heading("Refused, by the first rule that refuses")
        output.table(
            ["rule", "configurations", "share"],
            [
                [rule, f"{n:,}", f"{100 * n / count.size:.3g} %"]
                for rule, n in sorted(count.refused.items(), key=lambda item: (-item[1], item[0]))
            ],
            right=("configurations", "share"),
        )
    output.say()
    plan = known.plan
    words = f"'auto' would look at {plan.budget:,} configurations ({plan.strategy})"
    if known.about_s is not None:
        n = cores()
        words += (
            f": about {known.about_s:,.3g} s at {known.rate_per_s:,.3g} a second, measured on a sample of "
            f"{known.sampled:,} on {n} core{'s' if n > 1 else ''}"
        )
    output.say(words)
