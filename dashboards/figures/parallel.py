"""Parallel coordinates: an axis a tunable and one for time; all ok configurations as bands, the fastest as lines.

The library's own parallel coordinates need WebGL and send every row to the browser. Here the server counts what runs
between two neighbouring values: a band stands for all of them, its width for how many, its colour for the fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.filtering import codes
from dashboards.runview import RunView
from dashboards.text import microseconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

LINES = 60
"""Configurations that are drawn as lines of their own."""

TIME = "time_us"
_CLASSES = 12


@dataclass(frozen=True, eq=False)
class Band:
    """`count` configurations run from class `start` of one axis to class `end` of the next; `best_us` is the least
    time of them."""

    axis: int
    start: int
    end: int
    count: int
    best_us: float


@dataclass(frozen=True, eq=False)
class ParallelData:
    """Axes from left to right, the last one time.

    `names` and `labels` (of the classes of each axis, bottom to top); `heights`: where each class stands, 0 to 1;
    `bands`: everything that is ok and passes the filter; `lines`: (k,) positions in the view, fastest first, with
    `line_heights` (k, axes); `fastest`: of each class of each axis the position of its fastest configuration, -1 for
    none; `span_us`: least and greatest time; `total` counts the configurations behind the bands.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    heights: tuple[tuple[float, ...], ...]
    bands: tuple[Band, ...]
    lines: NDArray[np.int64]
    line_heights: NDArray[np.float64]
    fastest: tuple[tuple[int, ...], ...]
    span_us: tuple[float, float]
    total: int


def parallel_data(
    view: RunView, within: NDArray[np.int64] | None = None, lines: int = LINES, names: Sequence[str] | None = None
) -> ParallelData:
    """Axes for the varied tunables (or `names` of them) and for time, over the ok configurations in `within`.

    A value that does not apply has a class of its own, "–", at the foot of its axis. Times stand on a logarithmic
    scale in 12 equal classes.
    """
    tunables = [(n, d) for n, d in view.varied if names is None or n in names]
    ranked = view.ranked
    if within is not None:
        inside = np.zeros(len(view), dtype=bool)
        inside[within] = True
        ranked = ranked[inside[ranked]]
    titles = (*(name for name, _ in tunables), TIME)
    if not len(ranked):
        empty: tuple[tuple[Any, ...], ...] = tuple(() for _ in titles)
        return ParallelData(titles, empty, empty, (), ranked, np.zeros((0, len(titles))), empty, (np.nan, np.nan), 0)
    columns: list[NDArray[np.int64]] = []
    labels: list[tuple[str, ...]] = []
    heights: list[tuple[float, ...]] = []
    for name, domain in tunables:
        column = codes(view, name)[ranked].astype(np.int64)
        texts = [str(value) for value in domain]
        if (column < 0).any():
            column, texts = column + 1, ["–", *texts]
        columns.append(column)
        labels.append(tuple(texts))
        heights.append(_spread(len(texts)))
    times = view.time_us[ranked]
    low, high = float(times[0]), float(times[-1])
    place = height_of(times, (low, high))
    columns.append(np.minimum((place * _CLASSES).astype(np.int64), _CLASSES - 1))
    edges = [(i + 0.5) / _CLASSES for i in range(_CLASSES)]
    labels.append(tuple(microseconds(time_at(e, (low, high))) for e in edges))
    heights.append(tuple(edges))
    bands: list[Band] = []
    for i in range(len(columns) - 1):
        bands += _bands(i, columns[i], columns[i + 1], len(labels[i + 1]), times)
    fastest = []
    for column, own in zip(columns, labels, strict=True):
        found = [-1] * len(own)
        for code, at in zip(*(part.tolist() for part in np.unique(column, return_index=True)), strict=True):
            found[code] = int(ranked[at])
        fastest.append(tuple(found))
    drawn = ranked[:lines]
    level = np.stack(
        [*(np.array(h)[c[: len(drawn)]] for h, c in zip(heights[:-1], columns[:-1], strict=True)), place[: len(drawn)]],
        axis=1,
    )
    return ParallelData(
        titles, tuple(labels), tuple(heights), tuple(bands), drawn, level, tuple(fastest), (low, high), len(ranked)
    )


def _spread(n: int) -> tuple[float, ...]:
    return tuple(np.linspace(0, 1, n).tolist()) if n > 1 else (0.5,)


def height_of(time_us: Any, span_us: tuple[float, float]) -> Any:
    """Where a time stands on its axis, 0 to 1, on a logarithmic scale (linear where a time is not above 0)."""
    low, high = span_us
    if high <= low:
        return np.full(np.shape(time_us), 0.5)
    if low <= 0:
        return (np.asarray(time_us) - low) / (high - low)
    return np.log(np.asarray(time_us) / low) / np.log(high / low)


def time_at(height: float, span_us: tuple[float, float]) -> float:
    """The time at a height of the time axis, the inverse of `height_of`."""
    low, high = span_us
    if high <= low:
        return low
    return low + height * (high - low) if low <= 0 else float(low * (high / low) ** height)


def _bands(i: int, left: NDArray[np.int64], right: NDArray[np.int64], size: int, times: Any) -> list[Band]:
    """Bands between axis i and the next; everything comes fastest first, so the first of a pair is its best."""
    pair = left * size + right
    kinds, first, counts = np.unique(pair, return_index=True, return_counts=True)
    return [
        Band(i, kind // size, kind % size, count, float(times[at]))
        for kind, at, count in zip(kinds.tolist(), first.tolist(), counts.tolist(), strict=True)
    ]


def brushed(data: ParallelData, points: Sequence[dict[str, Any]]) -> dict[str, list[int]]:
    """Classes that a selection box holds, by axis: of the points of a selection those that are nodes of an axis."""
    found: dict[str, list[int]] = {}
    for point in points:
        custom = point.get("customdata")
        if isinstance(custom, list) and len(custom) == 4 and custom[0] == "node":
            i, code = custom[1], custom[2]
            if isinstance(i, int) and 0 <= i < len(data.names) and isinstance(code, int):
                found.setdefault(data.names[i], []).append(code)
    return found
