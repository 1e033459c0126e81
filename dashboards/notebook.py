"""The figures of a report in a notebook.

    from dashboards.notebook import figures, show

    show("latest")                      # the whole report of a run, below the cell
    show(1, 2, 3)                       # several runs, compared
    found = figures("latest")           # plotly figures by name
    found["timeline"]                   # one of them, to change and to combine
    found["scatter"].write_html("scatter.html")

`figures` draws with the functions that pages and reports draw with. `show` needs nothing installed in the notebook:
what it returns is HTML that holds everything, and asks no other host for anything. A plotly figure that stands by
itself needs the packages that plotly asks for (nbformat), as any figure does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dashboards.site.state import Site

_HEIGHT_PX = 900


@dataclass(frozen=True)
class Shown:
    """A page that a notebook shows below the cell, in a frame of its own; `page` is its HTML."""

    page: str
    height_px: int = _HEIGHT_PX

    def _repr_html_(self) -> str:
        # in a frame that may run its own scripts and nothing else: names in the store cannot reach the notebook
        return (
            f'<iframe title="pto-tune report" sandbox="allow-scripts" srcdoc="{escape(self.page)}" '
            f'style="width: 100%; height: {int(self.height_px)}px; border: 0"></iframe>'
        )


def figures(run: str | int, *, db: str | None = None, theme: str = "light") -> dict[str, Any]:
    """The figures of a run by name, as a report has them: plotly figures.

    Args:
        run: number or name of the run, or 'latest'.
        db: URL of the store; None as for the commands: PTO_TUNE_DB, else sqlite:///pto-tune.db in the working folder.
        theme: "light" or "dark".

    Returns:
        "scatter" (time against on-chip memory), "heatmap", "parallel" (coordinates), "importance", "refusals"; and of
        the best configuration "causes" (where its time goes), "bounds", "timeline" and "fifo-1", "fifo-2"...; where the
        run cannot be evaluated any more "stalls" instead of these, and where nothing is ok none.

    Errors: StoreError or ReportError for an unknown store or run, ValueError for another theme.
    """
    from dashboards import theme as themes
    from dashboards.report.page import collect, sections_of

    looks = {look.name: look for look in (themes.LIGHT, themes.DARK)}
    if theme not in looks:
        raise ValueError(f"there is no theme {theme!r}: 'light' or 'dark' would be right")
    with _site(db) as site:
        sections = sections_of(*collect(site, [run]))
    panels = [panel for section in sections for panel in section.panels]
    return {panel.key: panel.draw(looks[theme]) for panel in panels if panel.draw is not None}


def show(*runs: str | int, db: str | None = None, height_px: int = _HEIGHT_PX) -> Shown:
    """The report of one or several runs ('latest' where none is named), to stand as the last line of a cell.

    Light or dark as the browser prefers. Errors: as `figures`.
    """
    from dashboards.report.page import report_of

    with _site(db) as site:
        return Shown(report_of(site, list(runs) or ["latest"]), height_px)


@contextmanager
def _site(db: str | None) -> Iterator[Site]:
    from dashboards.site.state import Site
    from db import open_store

    with open_store(db, create=False) as store:
        yield Site(store)
