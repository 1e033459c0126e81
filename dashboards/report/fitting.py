"""Figures as data of a page, light and dark, and what gives way where they are too large together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dashboards.report.panels import OCCUPANCY, TOO_LARGE, Panel, Section
from dashboards.theme import DARK, LIGHT


@dataclass(frozen=True, eq=False)
class Drawn:
    """A panel as the page has it. `text` is the JSON of its figure ("" for none), which may stand in a script."""

    panel: Panel
    text: str = ""
    height_px: int = 0
    legend: tuple[tuple[str, str, str, str], ...] = ()

    @property
    def weight(self) -> int:
        """Bytes of the figure."""
        return len(self.text.encode())


def drawn(panel: Panel) -> Drawn:
    """The figure of a panel in both themes, the dark one as what differs; legend entries are name, light colour, dark
    colour and style."""
    if panel.draw is None:
        return Drawn(panel)
    light, dark = (as_json(panel.draw(theme)) for theme in (LIGHT, DARK))
    entries: tuple[tuple[str, str, str, str], ...] = ()
    if panel.legend is not None:
        pairs = zip(panel.legend(LIGHT), panel.legend(DARK), strict=True)
        entries = tuple((name, colour, other, style) for (name, colour, style), (_, other, _) in pairs)
    text = script_json({"light": light, "dark": difference(light, dark)})
    return Drawn(panel, text, int(light["layout"].get("height", 0)), entries)


def fitted(sections: Sequence[Section], room: int) -> dict[str, Drawn]:
    """Every panel by `id_of`, with figures of less than `room` bytes together.

    Too large together, figures give way one after another until they fit: timelines of later runs, then their FIFOs
    (the last run first), then points of scatters (the heaviest first), then whatever is heaviest.
    """
    out = {id_of(section, panel): drawn(panel) for section in sections for panel in section.panels}
    place = {id_of(section, panel): i for i, section in enumerate(sections) for panel in section.panels}
    total = sum(entry.weight for entry in out.values())

    def turn(key: str) -> tuple[int, int, int]:
        entry = out[key]
        last_run_first = -place[key] if entry.panel.turn <= OCCUPANCY else 0
        return entry.panel.turn, last_run_first, -entry.weight

    while total > room:
        key = min((key for key in out if out[key].text), key=turn, default=None)
        if key is None:
            break
        panel = out[key].panel
        lighter = drawn(panel.lighter() if panel.lighter is not None else panel.without_figure(TOO_LARGE))
        total += lighter.weight - out[key].weight
        out[key] = lighter
    return out


def id_of(section: Section, panel: Panel) -> str:
    """What names a panel in the page."""
    return f"{section.key}-{panel.key}"


def as_json(figure: Any) -> dict[str, Any]:
    """A figure as plain data."""
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
