"""What the page of links does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from dashboards.figures.links import (
    BLOCKS,
    SIZES,
    TILE_ROWS,
    TIMING,
    Line,
    differences,
    missing,
    over_sizes,
    over_tiles,
    over_tunable,
    over_waits,
    rows,
)
from dashboards.figures.links_drawing import BANDWIDTH, DIFFERENCE, TIME, links_figure
from dashboards.pages.keeping import Kept
from dashboards.site.parts import query, style_of, themed
from dashboards.text import byte_count, shorten
from dashboards.theme import Theme, message_figure

if TYPE_CHECKING:
    from dashboards.site.page import Callbacks
    from dashboards.site.state import Site
    from pto_tune.evaluation import Problem

VIEWS = (TIME, BANDWIDTH)
PLATFORMS = ("ascend910b2", "ascend910c", "ascend950pr")
OTHER, OTHER_X, OTHER_BY = "allgather_gemm", "stage_rows", "wait"
MOST_PLATFORMS = 6


@dataclass(frozen=True)
class Asked:
    """What the page is to show; what an address asks for in vain is replaced and named in `complaints`."""

    platforms: tuple[str, ...] = PLATFORMS
    view: str = TIME
    tile: int = 4
    size: int = 2**20
    blocks: int = 1
    other: str = OTHER
    x: str = OTHER_X
    by: str = OTHER_BY
    complaints: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Asked:
        """From the names and texts of an address, or the values of the page's menus."""
        from cost_models.platform import platform_names

        wrong: list[str] = []
        wanted = given.get("platforms")
        parts = wanted if isinstance(wanted, list) else [p for p in str(wanted or "").split(",") if p]
        platforms = [p for p in dict.fromkeys(parts) if p in platform_names()]
        for p in parts:
            if p not in platform_names():
                wrong.append(f"there is no built-in platform {shorten(p, 60)!r}")
        if len(platforms) > MOST_PLATFORMS:
            wrong.append(f"{len(platforms)} platforms are too many: the first {MOST_PLATFORMS} are shown")
        if wanted is None:
            platforms = [p for p in PLATFORMS if p in platform_names()]
        other = _one(given, "other", workloads_with_ranks(), OTHER, wrong)
        names = tunables_of(other)
        x = _one(given, "x", names, OTHER_X if OTHER_X in names else names[0], wrong)
        left = [name for name in names if name != x]
        by = _one(given, "by", names, OTHER_BY if OTHER_BY in left else left[0], wrong)
        return cls(
            tuple(platforms[:MOST_PLATFORMS]),
            str(_one(given, "view", VIEWS, TIME, wrong)),
            int(_one(given, "tile", TILE_ROWS, 4, wrong)),
            int(_one(given, "size", SIZES, 2**20, wrong)),
            int(_one(given, "blocks", BLOCKS, 1, wrong)),
            other,
            x,
            by,
            tuple(wrong),
        )

    def query(self) -> dict[str, str]:
        """What an address has to say: only what is not the default."""
        standard = Asked()
        own = {name: getattr(self, name) for name in ("view", "tile", "size", "blocks", "other", "x", "by")}
        kept = {name: value for name, value in own.items() if value != getattr(standard, name)}
        # none at all is a choice too
        platforms = {} if self.platforms == standard.platforms else {"platforms": list(self.platforms) or ["none"]}
        return query({**platforms, **kept})


def _one(given: Mapping[str, Any], name: str, choices: Any, default: Any, wrong: list[str]) -> Any:
    """The choice that a text or value means."""
    value = given.get(name)
    if value is None or value == "":
        return default
    for one in choices:
        if str(one) == str(value):
            return one
    wrong.append(f"{name} {shorten(str(value), 60)!r} is none of {', '.join(map(str, choices))}")
    return default


def workloads_with_ranks() -> list[str]:
    """Names of the built-in workloads with ranks."""
    from pto_tune.workloads import workload, workload_names

    return [name for name in workload_names() if workload(name).has_ranks]


def tunables_of(name: str) -> list[str]:
    """Tunables with more than one value of a built-in workload."""
    from pto_tune.workloads import workload

    return [t.name for t in workload(name).tunables if len(t.domain) > 1]


_problems = Kept(64)
_lines = Kept(128)


def problem_of(platform: str, workload_name: str) -> Problem:
    """The problem of a built-in workload on a built-in platform, made once."""
    from cost_models.platform import load_platform
    from pto_tune.evaluation import Problem
    from pto_tune.workloads import workload

    chip = load_platform(platform)
    made: Problem = _problems.get(
        (workload_name, chip.sha256), lambda: Problem.of(workload(workload_name), chip, timing=TIMING)
    )
    return made


def lines_of(what: str, asked: Asked) -> list[Line]:
    """The lines of a part of the page, on every platform in turn. ValueError where there is no such part."""
    makes: dict[str, Callable[[str], list[Line]]] = {
        "size": lambda p: over_sizes(partial(problem_of, p), asked.tile, asked.blocks),
        "tile": lambda p: over_tiles(partial(problem_of, p), asked.size, asked.blocks),
        "wait": lambda p: over_waits(partial(problem_of, p), asked.tile, asked.blocks),
        "other": lambda p: over_tunable(problem_of(p, asked.other), asked.x, asked.by),
    }
    if what not in makes:
        raise ValueError(f"there is no part {what!r} to download")
    depends = {
        "size": (asked.tile, asked.blocks),
        "tile": (asked.size, asked.blocks),
        "wait": (asked.tile, asked.blocks),
        "other": (asked.other, asked.x, asked.by),
    }
    from cost_models.platform import load_platform

    out: list[Line] = []
    for p in asked.platforms[:1] if what == "other" else asked.platforms:
        key = (what, depends[what], load_platform(p).sha256)
        out += _lines.get(key, partial(makes[what], p))
    return out


def callbacks(on: Callbacks, site: Site) -> None:  # noqa: ARG001
    """Registers them."""
    from dash import ALL, Input, Output, State, ctx
    from dash.exceptions import PreventUpdate

    names = ("platforms", "view", "tile", "size", "blocks")
    main = [Input(f"lnk-{name}", "value") for name in names]
    further = ("other", "x", "by")
    theme = Input("theme", "data")

    def asked_of(values: Any) -> Asked:
        return Asked.of({**dict(zip((*names, *further), values, strict=False)), "platforms": list(values[0] or [])})

    @on(
        *(Output(f"lnk-{which}", name) for which in ("get", "put") for name in ("figure", "style")),
        Output("lnk-get-note", "children"),
        Output("lnk-put-note", "children"),
        *main,
        theme,
    )
    def draw_sizes(*values: Any) -> tuple[Any, ...]:
        look, asked = themed(values[-1]), asked_of(values[:-1])
        found = lines_of("size", asked)
        get = [line for line in found if line.kind.startswith("TGET")]
        put = [line for line in found if line.kind.startswith("TPUT")]
        tile = f"Staging tile of {byte_count(asked.tile * 4096)}"
        return (
            *_drawn(get, asked.view, look), *_drawn(put, asked.view, look),
            f"{tile}. {missing(get)}", f"{tile}, {_blocks(asked)}. {missing(put)}",
        )  # fmt: skip

    @on(Output("lnk-tiles", "figure"), Output("lnk-tiles", "style"), Output("lnk-tiles-note", "children"), *main, theme)
    def draw_tiles(*values: Any) -> tuple[Any, ...]:
        look, asked = themed(values[-1]), asked_of(values[:-1])
        found = lines_of("tile", asked)
        words = f"Buffer of {byte_count(asked.size)}; TPUT with {_blocks(asked)}. {missing(found)}"
        return (*_drawn(found, asked.view, look), words)

    @on(
        *(Output(f"lnk-{which}", name) for which in ("waits", "less") for name in ("figure", "style")),
        Output("lnk-waits-note", "children"),
        *main,
        theme,
    )
    def draw_waits(*values: Any) -> tuple[Any, ...]:
        look, asked = themed(values[-1]), asked_of(values[:-1])
        found = lines_of("wait", asked)
        words = f"Staging tile of {byte_count(asked.tile * 4096)}, no ping-pong, {_blocks(asked)}. {missing(found)}"
        return (*_drawn(found, asked.view, look), *_drawn(differences(found), DIFFERENCE, look), words)

    @on(
        Output("lnk-any", "figure"),
        Output("lnk-any", "style"),
        Output("lnk-any-note", "children"),
        *main,
        *(Input(f"lnk-{name}", "value") for name in further),
        theme,
    )
    def draw_other(*values: Any) -> tuple[Any, ...]:
        look, asked = themed(values[-1]), asked_of(values[:-1])
        # while the workload changes, the other two menus still name tunables of the last one
        if values[-2] == values[-3]:
            figure = message_figure(look, "Choose two different tunables: one for the axis, one for the lines.")
            return figure, style_of(figure), ""
        found = lines_of("other", asked)
        words = f"{asked.other} on {asked.platforms[0]}. {missing(found)}" if found else ""
        return (*_drawn(found, TIME, look), words)

    @on(
        Output("lnk-x", "options"), Output("lnk-x", "value"), Output("lnk-by", "options"), Output("lnk-by", "value"),
        Input("lnk-other", "value"), prevent_initial_call=True,
    )  # fmt: skip
    def offer(other: str) -> tuple[Any, ...]:
        asked, known = Asked.of({"other": other}), tunables_of(other)
        return known, asked.x, known, asked.by

    @on(
        Output({"type": "address", "page": "links"}, "data"),
        *main,
        *(Input(f"lnk-{name}", "value") for name in further),
        prevent_initial_call=True,
    )
    def keep(*values: Any) -> dict[str, str]:
        return asked_of(values).query()

    @on(
        Output("lnk-download", "data"),
        Input({"type": "lnk-file", "what": ALL}, "n_clicks"),
        *(State(f"lnk-{name}", "value") for name in (*names, *further)),
        prevent_initial_call=True,
    )
    def get(clicks: list[Any], *values: Any) -> Any:
        from dashboards.pages.configuration.files import text_of

        if not any(clicks) or not ctx.triggered_id:
            raise PreventUpdate
        what = str(ctx.triggered_id["what"])
        text = text_of(rows(lines_of(what, asked_of(values))))
        return {"content": text, "filename": f"links-{what}.csv", "type": "text/csv"}


def _blocks(asked: Asked) -> str:
    return "one block" if asked.blocks == 1 else f"{asked.blocks} blocks"


def _drawn(lines: list[Line], shows: str, theme: Theme) -> tuple[Any, dict[str, str]]:
    figure = links_figure(lines, shows, theme) if lines else message_figure(theme, "Choose a platform above.")
    return figure, style_of(figure)
