"""One self-contained HTML file about a run: it opens offline and asks no other host for anything."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboards.heatmap import default_pair, heatmap_data, heatmap_figure
from dashboards.pareto import SVG_POINTS, ParetoData, pareto_data, pareto_figure
from dashboards.refusals import refusals_data, refusals_figure
from dashboards.runview import RunView
from dashboards.stalls import stalls_data, stalls_figure
from dashboards.summary import on_chip_note, summary_data
from dashboards.theme import DARK, LIGHT, Theme

SIZE_LIMIT_BYTES = 7_000_000
# Tried in turn until the page is small enough: very long texts in many tunables weigh more than the points
# do.
_POINT_LIMITS = (SVG_POINTS, 2_000, 500, 100)


class ReportError(ValueError):
    """The report cannot be written."""


@dataclass(frozen=True)
class Panel:
    """One figure of the page: `note` says how to read it, `dark` is what differs from `light`."""

    key: str
    title: str
    note: str
    light: dict[str, Any]
    dark: Any


def render_report(view: RunView) -> str:
    """The page as text, under 7 MB. Errors: ReportError where the texts of the run alone are larger than
    that.
    """
    for limit in _POINT_LIMITS:
        page = _render(view, limit)
        if len(page.encode()) < SIZE_LIMIT_BYTES:
            return page
    raise ReportError(
        f"run {view.name!r} makes a page above {SIZE_LIMIT_BYTES // 1_000_000} MB: shorten the texts of its tunables"
    )


def write_report(view: RunView, path: str | Path, force: bool = False) -> Path:
    """Write the page to `path` as a whole or not at all, and return the path.

    Errors: ReportError if the file exists and `force` is not set, or if it cannot be written.
    """
    target = Path(path)
    check_target(target, force)
    return write_page(render_report(view), target)


def write_page(page: str, target: Path) -> Path:
    """Write `page` to `target`, in place of what is there, as a whole or not at all. Errors: ReportError."""
    draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        try:
            # Mode x: never through a file or link that somebody else put there.
            with draft.open("x", encoding="utf-8", newline="\n") as stream:
                stream.write(page)
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise ReportError(f"cannot write the report to {target}: {error.strerror or error}") from error
    return target


def check_target(target: Path, force: bool) -> None:
    """Refuse a place for a report that cannot be right, before any work is done. Errors: ReportError."""
    if target.is_dir():
        raise ReportError(f"{target} is a folder: give the name of a file, such as {target / 'report.html'}")
    if not target.parent.is_dir():
        raise ReportError(f"the folder {target.parent} for the report does not exist: make it or give another file")
    if target.exists() and not force:
        raise ReportError(f"{target} exists already: give another file with -o, or --force to replace it")


def _render(view: RunView, point_limit: int) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    from pto_tune import __version__

    environment = Environment(
        loader=PackageLoader("dashboards", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    panels = _panels(view, point_limit)
    figures = {panel.key: {"light": panel.light, "dark": panel.dark} for panel in panels}
    return environment.get_template("report.html.j2").render(
        view=view,
        summary=summary_data(view),
        on_chip_note=on_chip_note(),
        panels=panels,
        version=__version__,
        # Both are safe inside a script element: the library holds no closing tag, and script_json escapes
        # '<'.
        plotly=Markup(get_plotlyjs()),
        figures=Markup(script_json(figures)),
    )


def _panels(view: RunView, point_limit: int) -> list[Panel]:
    pareto, refusals, stalls = pareto_data(view, point_limit), refusals_data(view), stalls_data(view)
    pair = default_pair(view)
    heatmap = heatmap_data(view, *pair) if pair else None

    # A figure that only says why it is empty needs no word on how to read it.
    memory_note = pair_note = stall_note = ""
    if pareto.total:
        memory_note = f"Lower left is better. {_points_note(pareto)}. {on_chip_note()}"
    if heatmap is not None and view.best is not None:
        pair_note = "Colour is the best time behind each pair, whatever the other tunables are."
        if heatmap.best is not None:
            pair_note += " The cell of the best configuration is outlined."
    if stalls.busy or stalls.waits:
        stall_note = f"Best configuration, row {stalls.row}. Busy and waiting overlap in time, so the bars do not "
        stall_note += "add up to the whole run."
    pair_title = f"Best time by {pair[0]} and {pair[1]}" if pair else "Best time by two tunables"

    def panel(key: str, title: str, note: str, figure_of: Any) -> Panel:
        light, dark = (_as_json(figure_of(theme)) for theme in (LIGHT, DARK))
        return Panel(key, title, note, light, difference(light, dark))

    def draw_pareto(theme: Theme) -> Any:
        return pareto_figure(view, pareto, theme)

    def draw_heatmap(theme: Theme) -> Any:
        return heatmap_figure(view, heatmap, theme)

    return [
        panel("pareto", "Time against on-chip memory", memory_note, draw_pareto),
        panel("heatmap", pair_title, pair_note, draw_heatmap),
        panel("stalls", "Where the best one spends its time", stall_note, lambda t: stalls_figure(stalls, t)),
        panel(
            "refusals",
            "What was ok, refused or unsafe, and by which rule",
            "Only ok configurations are recommended. A refused one breaks a static rule; the others can hang "
            "or corrupt data under some timing.",
            lambda t: refusals_figure(refusals, t),
        ),
    ]


def _points_note(data: ParetoData) -> str:
    note = f"{data.total:,} ok configurations"
    if data.thinned:
        note += f", thinned to {len(data.positions):,} points; the front is whole"
    return note


def _as_json(figure: Any) -> dict[str, Any]:
    out: dict[str, Any] = json.loads(figure.to_json())
    return out


def difference(old: Any, new: Any) -> Any:
    """What to put over `old` to get `new`.

    For two objects, or two lists of one length, only the entries that differ (lists by their index as text),
    otherwise `new` itself. Assumes what holds for one figure in two themes: no key vanishes from `old` to
    `new`, and no list becomes an object.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        return {key: difference(old.get(key), value) for key, value in new.items() if old.get(key) != value}
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = zip(old, new, strict=True)
        return {str(i): difference(a, b) for i, (a, b) in enumerate(pairs) if a != b}
    return new


def script_json(value: Any) -> str:
    """`value` as JSON that may stand inside a script element: nothing in it can close or open one."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
