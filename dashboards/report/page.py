"""One self-contained HTML file about one or several runs: it opens offline and asks no other host for anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dashboards.rendering import environment
from dashboards.report.fitting import Drawn, difference, fitted, id_of, script_json
from dashboards.report.panels import Section, Subject
from dashboards.report.sections import run_section
from dashboards.runview import RunView
from pto_tune.whole_file import write_whole

if TYPE_CHECKING:
    from dashboards.pages.compare.work import Compared
    from dashboards.site.state import Site
    from db import Store

__all__ = [
    "MOST_RUNS", "SIZE_LIMIT_BYTES", "ReportError", "check_target", "collect", "difference", "render_report",
    "report_of", "script_json", "sections_of", "write_page", "write_report",
]  # fmt: skip

SIZE_LIMIT_BYTES = 7_000_000
MOST_RUNS = 16
"""Runs of one report."""

_MARGIN_BYTES = 1_500
"""What a figure needs beside its data: its legend, and a sentence where it gives way."""


class ReportError(ValueError):
    """The report cannot be written; a sentence a line."""


def render_report(subjects: RunView | Subject | Sequence[Subject], compared: Compared | None = None) -> str:
    """The page as text, under 7 MB: a section a run, behind the comparison of `compared` where there is one.

    A `RunView` alone is a run that cannot be evaluated: its page has what the columns say. Errors: ReportError where
    the texts of the runs alone are larger than that.
    """
    if isinstance(subjects, RunView):
        subjects = Subject(subjects)
    if isinstance(subjects, Subject):
        subjects = [subjects]
    sections = sections_of(subjects, compared)
    bare = {id_of(section, panel): Drawn(panel) for section in sections for panel in section.panels}
    room = SIZE_LIMIT_BYTES - len(_page(sections, bare).encode()) - _MARGIN_BYTES * len(bare)
    page = _page(sections, fitted(sections, room))
    if len(page.encode()) >= SIZE_LIMIT_BYTES:
        names = ", ".join(repr(subject.view.name) for subject in subjects)
        raise ReportError(
            f"the page of {names} is above {SIZE_LIMIT_BYTES // 1_000_000} MB: name fewer runs, or shorten the texts "
            "of their tunables"
        )
    return page


def sections_of(subjects: Sequence[Subject], compared: Compared | None = None) -> list[Section]:
    """The comparison, where there is one, and a section a run."""
    first: list[Section] = []
    if compared is not None:
        from dashboards.report.comparison import compare_section

        first = [compare_section(compared, subjects)]
    return first + [run_section(subject, place, len(subjects)) for place, subject in enumerate(subjects)]


def collect(site: Site, refs: Sequence[str | int]) -> tuple[list[Subject], Compared | None]:
    """The runs of a store by number, name or 'latest', each once, and of several what compares them.

    Errors: ReportError, which names every run that there is not; ViewError for a run whose columns do not fit.
    """
    from db import StoreError

    unknown = []
    runs = {}
    for ref in refs:
        try:
            run = site.views.run(ref)
            runs[run.id] = run
        except StoreError as error:
            unknown.append(str(error))
    if unknown:
        raise ReportError("\n".join(dict.fromkeys(unknown)))
    if len(runs) > MOST_RUNS:
        raise ReportError(f"a report holds at most {MOST_RUNS} runs, and {len(runs)} are named: make several reports")
    subjects = []
    for run in runs.values():
        problem, why_not = None, ""
        try:
            problem, _ = site.views.search(run.id)
        except ValueError as error:
            why_not = str(error)
        sampled = run.strategy != "exhaustive"
        subjects.append(Subject(site.views.view(run.id), problem, why_not, run.id, sampled, run.pto_isa))
    if len(subjects) < 2:
        return subjects, None
    from dashboards.pages.compare.work import compared, wish

    return subjects, compared(site, wish({"runs": [str(number) for number in runs]}))


def report_of(site: Site, refs: Sequence[str | int]) -> str:
    """The page of runs of a store. Errors as by `collect` and `render_report`."""
    return render_report(*collect(site, refs))


def write_report(store: Store, refs: Sequence[str | int], path: str | Path, force: bool = False) -> Path:
    """Write the page of runs of an open store to `path` as a whole or not at all, and return the path.

    Errors: ReportError if the file exists and `force` is not set, or if it cannot be written; those of `report_of`.
    """
    from dashboards.site.state import Site

    target = Path(path)
    check_target(target, force)
    return write_page(report_of(Site(store), refs), target)


def write_page(page: str, target: Path) -> Path:
    """Write `page` to `target`, in place of what is there, as a whole or not at all. Errors: ReportError."""
    try:
        write_whole(target, page.encode())
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


def _page(sections: Sequence[Section], panels: dict[str, Drawn]) -> str:
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    from dashboards.summary import on_chip_note
    from pto_tune import __version__

    figures = ",".join(f'"{key}":{entry.text}' for key, entry in panels.items() if entry.text)
    title = sections[0].title if len(sections) == 1 else f"{len(sections) - 1} runs compared"
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            title=title,
            sections=sections,
            drawn=lambda section, panel: panels[id_of(section, panel)],
            on_chip_note=on_chip_note(),
            version=__version__,
            # Both are safe inside a script element: the library holds no closing tag, and script_json escapes
            # '<'.
            plotly=Markup(get_plotlyjs()),
            figures=Markup("{" + figures + "}"),
        )
    )
