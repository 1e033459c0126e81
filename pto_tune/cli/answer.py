"""The answer of a search on the screen: the best configurations, what was refused and why, the trade-offs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pto_tune.cli import output, text
from pto_tune.cli.evaluate import on_chip

if TYPE_CHECKING:
    from pto_tune.cli.sure import Sure

_UNSAFE = {
    "refused": "the hardware or the pipe library cannot take it",
    "hang": "some timing of it never ends",
    "overwrite": "a tile can be overwritten before it is read",
    "race": "the result depends on timing",
}


def best_table(entries: Sequence[Mapping[str, Any]], varied: Sequence[str], sure: Sure | None = None) -> None:
    """Configurations with time, what bounds them, utilisation and bytes; `varied`: tunables to show; `sure`: intervals
    and ties, where there are some."""
    titles = [] if sure is None else ["90 % interval", "tie"]
    output.table(
        ["row", "time (us)", *titles, "bound by", "cube", "vector", "on chip", "GM rings", "GM traffic", *varied],
        (
            [
                entry["row"],
                text.microseconds(entry["time_us"]),
                *([] if sure is None else [sure.interval(entry["row"]), sure.mark(entry["row"])]),
                entry["bound"] or text.NOTHING,
                text.percent(entry["cube_utilisation"]),
                text.percent(entry["vector_utilisation"]),
                text.size(on_chip(entry["bytes"])),
                text.size(entry["bytes"].get("GM_ring")),
                text.size(entry["bytes"].get("GM_traffic")),
                *(entry["configuration"].get(name, text.NOTHING) for name in varied),
            ]
            for entry in entries
        ),
        right=["row", "time (us)", "cube", "vector", "on chip", "GM rings", "GM traffic", *_numeric(entries, varied)],
    )


def _numeric(entries: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """The names whose values are numbers everywhere."""
    return [n for n in names if not any(isinstance(e["configuration"].get(n), str) for e in entries)]


def counts_table(counts: Mapping[str, Mapping[str, int]]) -> None:
    """How many configurations were legal, and how many were refused or unsafe by which rule."""
    total = sum(sum(rules.values()) for rules in counts.values())
    by_verdict = {verdict: sum(rules.values()) for verdict, rules in counts.items()}
    unsafe = total - by_verdict.get("ok", 0) - by_verdict.get("refused", 0)
    output.say(
        f"{by_verdict.get('ok', 0):,} legal and safe, {by_verdict.get('refused', 0):,} refused, {unsafe:,} unsafe"
    )
    rows: list[list[object]] = []
    ordered = [
        *(v for v in ("ok", *_UNSAFE) if v in counts),
        *(v for v in counts if v not in ("ok", *_UNSAFE)),
    ]
    for verdict in ordered:
        for rule, number in sorted(counts[verdict].items(), key=lambda item: (-item[1], item[0])):
            meaning = "legal and safe" if verdict == "ok" else _UNSAFE.get(verdict, "")
            rows.append([verdict, rule, text.count(number), text.percent(number / max(total, 1)), meaning])
    output.table(["verdict", "rule", "configurations", "share", "meaning"], rows,
                 right=["configurations", "share"])  # fmt: skip


def front_table(front: Sequence[Mapping[str, Any]], varied: Sequence[str], limit: int = 10) -> None:
    """The Pareto front of time against on-chip memory, at most `limit` points spread over it."""
    shown = list(front)
    if len(shown) > limit:
        step = (len(shown) - 1) / (limit - 1)
        shown = [front[round(i * step)] for i in range(limit)]
    output.table(
        ["time (us)", "on chip", *varied],
        (
            [
                text.microseconds(point["time_us"]),
                text.size(int(point["on_chip_bytes"])),
                *(point.get(name, text.NOTHING) for name in varied),
            ]
            for point in shown
        ),
        right=["time (us)", "on chip", *_numeric([{"configuration": point} for point in front], varied)],
    )
    if len(front) > len(shown):
        output.say(f"({len(shown)} of {len(front):,} points)")


def stall_account(summary: Mapping[str, Any], limit: int = 6) -> None:
    """Where the time goes: the critical path by cause, and what would remain if one thing alone limited.

    `summary` is that of an explanation with times.
    """
    total = int(summary["cycles"])
    if summary["segments"]:
        _segments(summary, total, limit)
    output.heading("If only this limited you")
    rows = [*((b["pipe"], int(b["cycles"])) for b in summary["bounds"]), ("simulated", total)]
    output.table(
        ["limit", "cycles", "of the time", ""],
        ([name, text.count(cycles), text.percent(cycles / total), text.bar(cycles / total)] for name, cycles in rows),
        right=["cycles", "of the time"],
    )


def between_ranks(summary: Mapping[str, Any], clock_mhz: float) -> None:
    """Every wait between ranks with what TWAIT and TTEST would take, in microseconds. `summary` is that of an
    explanation of a workload with ranks."""
    ranks = summary["ranks"]
    links = ", ".join(ranks["links"]) or "none"
    output.say()
    output.say(
        f"{ranks['ranks']} ranks of {ranks['blocks']} blocks, all of them simulated (none folded), links: {links}; "
        f"engine {summary['engine']}"
    )
    waits = summary["waits_between_ranks"]
    if not waits:
        return

    def us(cycles: int) -> str:
        return text.microseconds(cycles / clock_mhz)

    output.heading("Waits for signals (us: mean wait, then until wait and other work are over with each)")
    output.table(
        ["core", "signal", "by", "times", "wait", "longest", "TWAIT", "TTEST", "advised", "because"],
        (
            [
                a["core"], a["signal"], a["instruction"], text.count(a["passed"]), us(a["wait_cycles"]),
                us(a["longest_cycles"]), us(a["twait_cycles"]), us(a["ttest_cycles"]), a["advised"], a["why"],
            ]
            for a in waits
        ),
        right=["times", "wait", "longest", "TWAIT", "TTEST"],
    )  # fmt: skip


def _segments(summary: Mapping[str, Any], total: int, limit: int) -> None:
    block = int(summary["block_cycles"])
    of = "" if block == total else f" of one block, {block:,} of the {total:,} cycles"
    output.heading(f"Where the time goes (critical path{of})")
    output.table(
        ["cause", "of", "cycles", "share", ""],
        (
            [s["cause"], s["name"], text.count(s["cycles"]), text.percent(s["share"]), text.bar(s["share"])]
            for s in _largest(summary["segments"], limit)
        ),
        right=["cycles", "share"],
    )


def _largest(segments: Sequence[Mapping[str, Any]], limit: int) -> list[Mapping[str, Any]]:
    """The largest segments; the others in one line, so that the sum stays the whole."""
    ordered = sorted(segments, key=lambda s: -s["cycles"])
    if len(ordered) <= limit:
        return ordered
    rest = ordered[limit - 1 :]
    others = {
        "cause": "others",
        "name": f"{len(rest)} more",
        "cycles": sum(s["cycles"] for s in rest),
        "share": sum(s["share"] for s in rest),
    }
    return [*ordered[: limit - 1], others]
