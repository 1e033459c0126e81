"""`pto-tune evaluate`: the time and the verdict of the configurations that are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import options, output, rule_words, text
from pto_tune.cli.progress import Bar

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.model.nodes import Workload as Model
    from pto_tune.rule_sets import RuleSet

MAX_ROWS = 100_000
WARNED_ROWS = 5
"""Rows up to which what pages and headers say of them is printed."""

Grid = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="NAME=V1,V2,...",
        help=f"Try several values; several --grid options make every combination (at most {MAX_ROWS:,}).",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command `evaluate` to `app`."""
    app.command(name="evaluate", short_help="Predict the time of given configurations.")(evaluate)


def evaluate(
    workload: options.Workload,
    platform: options.Platform = None,
    pto_isa: options.PtoIsa = None,
    timing: options.Timing = "task",
    set_: options.Set = None,
    grid: Grid = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Predict how long given configurations take, and say which are illegal or unsafe and why.

    What is not set takes the workload's default. A configuration is refused where the hardware or the pipe
    library cannot take it; 'hang', 'overwrite' and 'race' name what an unsafe one may do on the board. Of up to
    5 configurations it is also said where a page of the ISA and the headers disagree about them.

    \b
    Examples:
      pto-tune evaluate gemm --platform ascend910b1 --set m=6144 --set step_k=4
      pto-tune evaluate flash_attention --set s1=8192 --grid fifo_depth=2,4,8 --grid qk_preload=2,4 --json

    Exit code 1: not one of the configurations is legal and safe.
    """
    model = options.workload_named(workload)
    table, n = product(model, options.assignments(set_, "--set"), options.lists(grid, "--grid"))
    with Bar(f"evaluating {n:,} configurations", quiet=quiet):
        from cost_models.platform import load_platform
        from pto_tune.api import evaluate_records

        chip = load_platform(options.platform_for(model, platform))
        records = evaluate_records(model, table, platform=chip, pto_isa=pto_isa, timing=timing, accounts=True)
    if as_json:
        output.as_json(records)
    else:
        from pto_tune.rule_sets import rule_set_for

        rule_set = rule_set_for(chip.family, pto_isa)
        said = warnings(model, chip, rule_set, table) if n <= WARNED_ROWS else [[]] * n
        if n == 1:
            show_one(records[0], said[0])
        else:
            show_many(records, said)
        other = rule_words.other_headers(model, rule_set)
        if other:
            output.say()
            output.say(other)
    if not any(record["verdict"] == "ok" for record in records):
        raise typer.Exit(1)


def product(model: Model, fixed: Mapping[str, str], grid: Mapping[str, Sequence[str]]) -> tuple[dict[str, Any], int]:
    """Columns of every combination, the last grid fastest, and the number of rows.

    ValueError lists everything that is wrong: unknown names and values, empty grids, names given twice; or says that
    the combinations are too many.
    """
    import numpy as np

    options.no_name_twice(list(fixed), list(grid), "--set and --grid")
    wrong = [
        f"--grid {name}= has no value: give at least one, such as --grid {name}=1,2"
        for name, words in grid.items()
        if not words
    ]
    values: dict[str, list[int]] = {}
    try:
        values = options.values(model, {**{name: [word] for name, word in fixed.items()}, **grid})
    except ValueError as error:
        wrong = [*str(error).splitlines(), *wrong]
    if wrong:
        raise ValueError("\n".join(wrong))
    n = 1
    for name in grid:
        n *= len(values[name])
    if n > MAX_ROWS:
        raise ValueError(
            f"the grids make {n:,} configurations, at most {MAX_ROWS:,} are evaluated at once: "
            "give fewer values, or let 'pto-tune tune' search"
        )
    columns: dict[str, Any] = {}
    repeat = n
    for name, column in values.items():
        repeat //= len(column)
        columns[name] = np.resize(np.repeat(np.asarray(column, dtype=np.int64), repeat), n)
    return columns, n


def warnings(model: Model, platform: Platform, rule_set: RuleSet, table: Mapping[str, Any]) -> list[list[str]]:
    """What pages and headers say of each row of `table`, a list of sentences a row."""
    import numpy as np

    from pto_tune.legality.warnings import warnings as find
    from pto_tune.lowering.columns import environment
    from pto_tune.table import check_values

    columns, n = check_values(model, table)
    env = environment(model, {**columns, "block": np.zeros(n, dtype=np.int64)})
    found = find(model, platform, rule_set, env, n)
    return [[w.sentence(row) for w in found if w.broken[row]] for row in range(n)]


def show_many(records: Sequence[Mapping[str, Any]], said: Sequence[Sequence[str]]) -> None:
    """One line a configuration: what differs between them, and the result; `said`: the warnings of each."""
    first = records[0]["configuration"]
    varied = [name for name in first if any(r["configuration"][name] != first[name] for r in records)]
    fixed = {name: value for name, value in first.items() if name not in varied}
    output.say(f"{_basis(records[0])}; {text.settings(fixed)}")
    output.heading(f"{len(records):,} configurations")
    output.table(
        [*varied, "verdict", "time (us)", "cycles", "bound", "on chip", "GM rings", "why"],
        (
            [
                *(record["configuration"][name] for name in varied),
                record["verdict"],
                text.microseconds(record["time_us"]),
                text.count(record["cycles"]),
                record["bound"] or text.NOTHING,
                text.size(on_chip(record["bytes"])),
                text.size(record["bytes"].get("GM_ring")),
                record["reason"] or "",
            ]
            for record in records
        ),
        right=[
            *(n for n in varied if isinstance(first[n], int)),
            "time (us)",
            "cycles",
            "on chip",
            "GM rings",
        ],
    )
    rows_of: dict[str, list[int]] = {}
    for row, sentences in enumerate(said):
        for sentence in sentences:
            rows_of.setdefault(sentence, []).append(row)
    if rows_of:
        output.heading("Warnings")
    for sentence, rows in rows_of.items():
        some = ["; ".join(f"{name}={records[row]['configuration'][name]}" for name in varied) for row in rows]
        output.say(sentence if len(rows) == len(records) else f"{' and '.join(some)}: {sentence}")


def on_chip(sizes: Mapping[str, int]) -> int:
    """Bytes in UB (of one vector sub-core), L1, L0A, L0B and L0C together."""
    return sum(int(sizes.get(name) or 0) for name in ("UB", "L1", "L0A", "L0B", "L0C"))


def show_one(record: Mapping[str, Any], said: Sequence[str]) -> None:
    """Everything about one configuration; `said`: its warnings."""
    output.say(f"{_basis(record)}; {text.settings(record['configuration'])}")
    output.say()
    output.say(f"verdict     {record['verdict']}")
    if record["reason"]:
        output.say(f"why         {record['reason']}")
    for also in record["also"] or ():
        output.say(f"also        {also}")
    for sentence in said:
        output.say(f"warning     {sentence}")
    if record["cycles"] is not None:
        output.say(f"time        {text.microseconds(record['time_us'])} us ({record['cycles']:,} cycles)")
        output.say(f"bound by    {record['bound']}")
    sizes = record["bytes"]
    output.say("bytes       " + ", ".join(f"{name} {text.size(value)}" for name, value in sizes.items()))
    if record["cycles"] is not None and not record["exportable"]:
        output.say(f"no export   {record['not_exportable_because']}")
    busy_table(record["busy"], record["cycles"])
    waits_table(record["waits"])


def busy_table(busy: Mapping[str, int], cycles: int | None) -> None:
    """Busy cycles of every pipe with their share of the whole; nothing where there are no times."""
    if not busy or not cycles:
        return
    output.heading("Busy")
    output.table(
        ["pipe", "cycles", "share", ""],
        (
            [name, text.count(value), text.percent(value / cycles), text.bar(value / cycles)]
            for name, value in busy.items()
        ),
        right=["cycles", "share"],
    )


def waits_table(waits: Mapping[str, int], limit: int = 12) -> None:
    """The `limit` longest waits; nothing where there are none."""
    if not waits:
        return
    longest = sorted(waits.items(), key=lambda item: -item[1])[:limit]
    most = max(longest[0][1], 1)
    # Several pipes may wait for one thing at the same time, so a share of the whole would mislead.
    output.heading("Waits (summed over what waits at the same time)")
    output.table(
        ["for", "cycles", ""],
        ([name, text.count(value), text.bar(value / most)] for name, value in longest),
        right=["cycles"],
    )


def _basis(record: Mapping[str, Any]) -> str:
    return f"rule set {record['rule_set']}, timing {record['timing']}"
