"""A file of measurements, of whichever form, as measurements and faults."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from db import Measurement
from pto_tune.measuring.chips import Chips
from pto_tune.measuring.faults import Fault, MeasurementFileError, RowError, listed
from pto_tune.measuring.files import Table, read_table, read_text
from pto_tune.measuring.msprof import is_summary, read_map, summary_measurements
from pto_tune.measuring.protocols import PROFILER, protocol
from pto_tune.measuring.rows import RESERVED, TIMES, NotMeasured, Rows

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.model.nodes import Workload


def read_measurements(
    path: str | os.PathLike[str],
    *,
    mapping: str | os.PathLike[str] | None = None,
    workload: str | Workload | None = None,
    platform: str | Platform | None = None,
    timing: str | None = None,
) -> tuple[list[Measurement], list[Fault]]:
    """The measurements of a file, and what was left out of it.

    A CSV file with titles or a file of JSON lines has a row a measurement: `workload`, `platform` or `soc`, `timing`,
    `time_us` or `cycles`, and if known `pto_isa`, `repeats`, `spread_us`, `min_us`, `max_us` (or `spread_cycles` ...),
    `source`, `note`. Every other column is a problem size or tunable of the workload, as a number or a label; where it
    is missing or empty its default holds. A summary of the profiler is recognised by its titles and takes `mapping`
    (see `pto_tune.measuring.msprof`). A row that is not measured yet (empty time) and one that repeats another are
    left out as harmless.

    Args:
        path: the file; at most 64 MiB of UTF-8 and 200,000 rows.
        mapping: for a summary of the profiler, the JSON file that says which op was what.
        workload: name, or a workload that is not built in: for rows that name none.
        platform: name, family, or a platform that is not built in: for rows without one.
        timing: the protocol for rows that name none.

    Returns:
        Measurements in the order of the file, none twice; faults by row, those of the whole file last.

    Raises:
        MeasurementFileError: nothing can be read, every reason a line.
        ValueError: an unknown workload, platform or timing among the arguments.
    """
    rows, source = _rows(workload, platform, timing, Path(path).name), str(path)
    table = read_table(read_text(path), source)
    if is_summary(table.titles):
        if mapping is None:
            raise MeasurementFileError(
                f"{source} is a summary of the profiler, which does not say what an op computes: give --map FILE, a "
                'JSON file such as {"ops": [{"op": "my_kernel*", "workload": "gemm", "configuration": {"m": 512}}]}'
            )
        if timing is not None and protocol(timing) != PROFILER:
            raise MeasurementFileError(
                f"{source} holds task durations: --timing {timing} does not fit, leave it out or give {PROFILER}"
            )
        found, faults = summary_measurements(table, read_map(mapping), rows)
    elif mapping is not None:
        raise MeasurementFileError(
            f"{source} is no summary of the profiler, it lacks 'Op Name' and 'Task Duration(us)': leave out --map"
        )
    else:
        found, faults = _simple(table, rows, source)
    return _once(found, faults)


def _rows(workload: str | Workload | None, platform: str | Platform | None, timing: str | None, source: str) -> Rows:
    """What turns rows into measurements, with the defaults that the arguments give."""
    from pto_tune.workloads import workload as built_in

    own_workload = None if workload is None or isinstance(workload, str) else workload
    own_platform = None if platform is None or isinstance(platform, str) else platform
    chips = Chips(own_platform)
    if isinstance(workload, str):
        built_in(workload)
    if isinstance(platform, str):
        chips.find(platform, "")
    return Rows(
        chips,
        workload=own_workload.name if own_workload is not None else str(workload or ""),
        platform=own_platform.name if own_platform is not None else str(platform or ""),
        timing=protocol(timing) if timing is not None else "",
        own=own_workload,
        source=source,
    )


def _simple(table: Table, rows: Rows, source: str) -> tuple[list[tuple[int | None, Measurement]], list[Fault]]:
    """The rows of the simple form."""
    if table.titles and not set(TIMES) & set(table.titles):
        from difflib import get_close_matches

        near = [title for title in table.titles if get_close_matches(title.casefold(), TIMES, 1)]
        hint = f" (it has {near[0]!r})" if near else ""
        raise MeasurementFileError(
            f"{source} has no column 'time_us' or 'cycles'{hint}: row 1 must name the columns, "
            f"{', '.join(RESERVED[:6])}, ... and the problem sizes and tunables"
        )
    found: list[tuple[int | None, Measurement]] = []
    faults = list(table.faults)
    empty = []
    for row, cells in table.rows:
        try:
            found.append((row, rows.measurement(cells)))
        except NotMeasured:
            empty.append(row)
        except RowError as error:
            faults += [Fault(row, sentence) for sentence in str(error).splitlines()]
    if empty:
        verbs = ("has", "stays") if len(empty) == 1 else ("have", "stay")
        faults.append(Fault(None, f"{listed(empty)} {verbs[0]} no time yet and {verbs[1]} out", harmless=True))
    return found, faults


def _once(found: list[tuple[int | None, Measurement]], faults: list[Fault]) -> tuple[list[Measurement], list[Fault]]:
    """Each measurement once, and the faults in the order of rows."""
    first: dict[str, int | None] = {}
    kept = []
    for row, measurement in found:
        digest = measurement.digest
        if digest not in first:
            first[digest] = row
            kept.append(measurement)
        else:
            same = "another entry of the map" if row is None else f"row {first[digest]}"
            faults.append(Fault(row, f"it says the same as {same}, which is enough", harmless=True))
    return kept, sorted(faults, key=lambda fault: (fault.row is None, fault.row or 0))
