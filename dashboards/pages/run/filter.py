"""The filter bar of a run's page: controls for what a filter says, and the way back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from dashboards.filtering import NONE, Filter, FilterError, tunable_key
from dashboards.site.parts import button, html
from dashboards.text import byte_count, microseconds, shorten

if TYPE_CHECKING:
    from db import Run

PICK = "run-pick"
"""Type of the ids of the menus of the tunables; `place` says which."""

_OPEN_UP_TO = 8


def varied(run: Run) -> list[tuple[str, list[str]]]:
    """Tunables of a run with more than one value, and the texts of these."""
    return [(str(t["name"]), [str(v) for v in t["domain"]]) for t in run.tunables if len(t["domain"]) > 1]


def bar(run: Run, wanted: Filter) -> Any:
    """The controls, set to what `wanted` says."""
    from dash import dcc

    h = html()
    any_of = dict(wanted.any_of)
    ranges = {name: (low, high) for name, low, high in wanted.ranges}
    low, high = ranges.get("time_us", (None, None))
    tunables = varied(run)
    first = [
        menu("run-verdict", "Verdict", run.verdicts, any_of.get("verdict", ())),
        menu("run-rule", "Rule", _rules(run, any_of.get("rule", ())), any_of.get("rule", ()), search=True),
        number("run-time-min", "Time from (µs)", low),
        number("run-time-max", "Time to (µs)", high),
    ]
    menus = [
        menu({"type": PICK, "place": i}, name, [*texts, NONE] if NONE in any_of.get(tunable_key(name), ()) else texts,
             any_of.get(tunable_key(name), ()), search=len(texts) > 12)
        for i, (name, texts) in enumerate(tunables)
    ]  # fmt: skip
    return [
        dcc.Store(id="run-brush", data=_other_ranges(ranges)),
        h.Div(first + (menus if len(menus) <= _OPEN_UP_TO else []), className="controls"),
        *(
            [h.Details([h.Summary("Tunables"), h.Div(menus, className="controls")],
                       open=any(tunable_key(n) in any_of for n, _ in tunables))]
            if len(menus) > _OPEN_UP_TO else []
        ),
        h.Div(
            [h.P(id="run-count", className="note", role="status"), button("run-clear", "Clear the filter")],
            className="count",
        ),
    ]  # fmt: skip


def menu(id: Any, label: str, values: Sequence[str], chosen: Sequence[str], search: bool = False) -> Any:
    """A labelled menu of which several may be chosen; nothing chosen is everything."""
    import json

    from dash import dcc

    h = html()
    key = id if isinstance(id, str) else json.dumps(id, sort_keys=True, separators=(",", ":"))
    return h.Div(
        [
            h.Label(shorten(label, 30), htmlFor=key, title=label),
            dcc.Dropdown(
                id=id, options=[{"label": v, "value": v} for v in values], value=[v for v in chosen if v in values],
                multi=True, searchable=search, placeholder="all", closeOnSelect=False, debounce=True,
            ),
        ],
        className="choice",
    )  # fmt: skip


def number(id: str, label: str, value: float | None) -> Any:
    """A labelled field for a number, which may be empty. Its text is read by `end_of`."""
    from dash import dcc

    h = html()
    # a field of type "number" complains in the browser's console when it is emptied from here
    text = "" if value is None else f"{value:.10g}"
    field = dcc.Input(id=id, type="text", inputMode="numeric", value=text, debounce=True, placeholder="any")
    return h.Div([h.Label(label, htmlFor=id), field], className="choice field")


def end_of(text: Any, label: str) -> float | None:
    """What a field for a number holds, None where it is empty. Errors: FilterError."""
    if text is None or not str(text).strip():
        return None
    try:
        value = float(str(text).replace(",", ""))
    except ValueError:
        value = nan
    if not isfinite(value):
        raise FilterError(f"{label}: {shorten(str(text), 40)!r} is not a number")
    return value


def _rules(run: Run, chosen: Sequence[str]) -> list[str]:
    """Rules that occur in the run, or are asked for, in the order of the run."""
    met = {rule for by_rule in _verdicts(run).values() for rule in by_rule} | set(chosen)
    # while a run is going on its counts are not known yet
    return [rule for rule in run.rules if rule in met] if met or run.state == "done" else list(run.rules)


def _verdicts(run: Run) -> Mapping[str, Mapping[str, int]]:
    return {k: v for k, v in run.counts.items() if isinstance(v, dict)}


def _other_ranges(ranges: Mapping[str, tuple[float | None, float | None]]) -> dict[str, list[float | None]]:
    return {name: [low, high] for name, (low, high) in ranges.items() if name != "time_us"}


def collected(
    run: Run,
    picks: Sequence[Sequence[str] | None],
    verdicts: Sequence[str] | None,
    rules: Sequence[str] | None,
    time_us: tuple[float | None, float | None],
    brush: Mapping[str, Sequence[float | None]] | None,
) -> Filter:
    """The filter that the controls say."""
    any_of = [
        (tunable_key(name), tuple(chosen)) for (name, _), chosen in zip(varied(run), picks, strict=False) if chosen
    ]
    any_of += [(name, tuple(chosen)) for name, chosen in (("verdict", verdicts), ("rule", rules)) if chosen]
    ranges = [(name, low, high) for name, (low, high) in (brush or {}).items()]
    if time_us != (None, None):
        ranges.append(("time_us", *time_us))
    return Filter(tuple(any_of), tuple(ranges))


def sentence(passing: int, ok: int, total: int, wanted: Filter) -> str:
    """How many pass, and what the brush says that no control shows."""
    text = f"{passing:,} of {total:,} configurations, {ok:,} of them ok"
    parts = []
    for name, low, high in wanted.ranges:
        show = microseconds if name == "time_us" else byte_count if name not in ("row", "cycles") else "{:,.0f}".format
        if name != "time_us":
            ends = [show(end) if end is not None else "any" for end in (low, high)]
            parts.append(f"{name} from {ends[0]} to {ends[1]}")
    return f"{text}; {', '.join(parts)}" if parts else text
