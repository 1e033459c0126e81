"""What the configuration page says about an explanation, and what it reads from its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dashboards.figures.causes import CausesData, causes_data
from dashboards.figures.timeline import MOST_TOKENS, Window, timeline_data, window
from dashboards.figures.timeline_spans import KINDS
from dashboards.pages.configuration.parts import whole
from dashboards.pages.configuration.work import Stored, explained
from dashboards.site.parts import html, table
from dashboards.text import microseconds, percent

if TYPE_CHECKING:
    from pto_tune.explaining.explanation import Explanation

    Changes = Mapping[str, int | str]
    WindowUs = Mapping[str, float] | None


def shown_causes(of: Stored, changes: Changes) -> list[CausesData]:
    """Causes of the stored configuration, and of the changed one where there is one.
    What has no times is left out."""
    both = [("stored", {}), *([("changed", changes)] if changes else [])]
    found = [causes_data(explained(of, c), label) for label, c in both]
    return [data for data in found if data is not None]


def causes_note(now: Explanation) -> Any:
    """What the bars of the causes are."""
    h = html()
    if not now.timed:
        return ""
    if now.problem.workload.has_ranks:
        words = (
            "Sums of the block that ends last, over all its pipes: what is done at the same time counts twice. "
            "The time-ordered engine has no critical path."
        )
    else:
        words = "The critical path of the first block; its parts add up to the block's time exactly."
        whole, block = int(now.evaluation.cycles[0]), now.block.cycles
        if whole != block:
            words += (
                f" The block takes {percent(block, whole)} of the device's time: blocks follow each other in waves."
            )
    return h.P(words, className="note")


def stretch(moved: Any) -> tuple[bool, dict[str, float] | None]:
    """Whether a message of the figure says which stretch of time is wanted, and which (microseconds; None: all)."""
    if not isinstance(moved, dict):
        return False, None
    if moved.get("xaxis.autorange"):
        return True, None
    low, high = moved.get("xaxis.range[0]"), moved.get("xaxis.range[1]")
    if "xaxis.range" in moved:
        low, high = moved["xaxis.range"]
    if not isinstance(low, int | float) or not isinstance(high, int | float) or not low < high:
        return False, None
    return True, {"from": max(0.0, float(low)), "to": float(high)}


def cycles_of(shown: WindowUs, clock_mhz: float, end: int) -> tuple[int, int]:
    """A stretch of time in cycles, within 0 to `end`; all where it is outside."""
    if shown is None:
        return 0, end
    low, high = max(0, round(shown["from"] * clock_mhz)), min(end, round(shown["to"] * clock_mhz))
    return (low, high) if low < high else (0, end)


def view_of(now: Explanation, shown: WindowUs, block: int | None) -> Window:
    """What the timeline draws."""
    data = timeline_data(now, block)
    return window(data, *cycles_of(shown, data.clock_mhz, data.cycles))


def timeline_note(now: Explanation, w: Window) -> str:
    """What is drawn, and what is not."""
    mhz = now.problem.clock_mhz
    words = (
        f"{w.data.title[:1].upper()}{w.data.title[1:]}: {microseconds(w.data.cycles / mhz)} µs, "
        f"{w.data.cycles:,} cycles, without the launch of {microseconds(now.problem.launch_us)} µs."
    )
    if w.merged:
        words += f" {w.merged:,} bars stand for several short instructions or stalls each: zoom in to tell them apart."
    if w.hidden_tokens:
        words += f" {w.hidden_tokens:,} flags are in view: they are drawn from {MOST_TOKENS} down."
    if now.problem.workload.has_ranks:
        words += " Stalls are not logged one by one: their sums are under 'Where the time goes'."
    return words


def path_table(now: Explanation) -> Any:
    """Parts of the critical path, and who waits for what."""
    h = html()
    data = causes_data(now)
    if data is None:
        return h.P("There are no times, so there is nothing to divide.", className="note")
    share = "Share" if data.exact else "Of the whole time"
    out = [
        table(
            ["Cause", "Where", "Cycles", share],
            [[cause, name, f"{k:,}", percent(k, data.cycles)] for cause, name, k in data.parts[:14]],
            numbers=["Cycles", share],
            label="The critical path by cause" if data.exact else "Work and waits by name",
        )
    ]
    if len(data.parts) > 14:
        out.append(h.P(f"{len(data.parts) - 14} smaller parts are in the CSV.", className="note"))
    if data.exact:
        stalls = sorted(timeline_data(now).stalls, key=lambda s: -s[2])[:8]
        out += [
            h.H3("Longest stalls"),
            table(
                ["Pipe", "What it waits for", "Cycles", "Of the block"],
                [[whole(track), whole(KINDS[kind]), f"{k:,}", percent(k, data.cycles)] for track, kind, k in stalls],
                numbers=["Cycles", "Of the block"],
                label="Stalls by pipe",
            ),
            h.P("Stalls of one pipe; those of different pipes overlap in time.", className="note"),
        ]
    return out


def no_fifos(now: Explanation) -> str:
    """Why there is nothing to draw of FIFOs."""
    if not now.timed:
        return "There are no times, so no FIFO fills."
    if now.problem.workload.has_ranks:
        return "The time-ordered engine of workloads with ranks does not log which tile is in which slot."
    return "No FIFO between cores holds a tile in this block."


def blocks(now: Explanation) -> list[dict[str, Any]]:
    if not now.problem.workload.has_ranks or not now.timed:
        return []
    run = now.evaluation.runs[0]
    return [
        {"label": f"rank {i // run.blocks}, block {i % run.blocks}", "value": i} for i in range(run.ranks * run.blocks)
    ]
