"""The list of configurations to run on a board, as a CSV file to fill in and to import."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

FILL_IN = ("time_us", "repeats", "spread_us")
"""The columns that are left empty: the mean, how many runs it is of, and their standard deviation."""


def template(
    workload: str,
    platform: str,
    timing: str,
    pto_isa: str | None,
    configurations: Sequence[Mapping[str, Any]],
    notes: Sequence[str],
) -> str:
    """A CSV text in the simple form, one row a configuration with its note, `\\n` line ends.

    Every configuration must have the names of the first. `pto_isa` is empty where it is not known; it should say which
    headers the kernel is built with.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = list(configurations[0]) if configurations else []
    writer.writerow(["workload", "platform", "pto_isa", "timing", *names, *FILL_IN, "note"])
    for configuration, note in zip(configurations, notes, strict=True):
        cells = [configuration[name] for name in names]
        writer.writerow([workload, platform, pto_isa or "", timing, *cells, *("" for _ in FILL_IN), note])
    return text.getvalue()
