"""How fast whole searches are, from the space to the store: `pto-tune bench sweep`.

Every search runs in a process of its own, `python -m pto_tune.bench_sweep`, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

SIZES = {"s0": 2048, "s1": 2048}
MILLION = 1_000_000
MILLION_DOMAINS: Mapping[str, Sequence[int | str]] = {
    "cube_s0": [64, 128, 256],
    "cube_s1": [64, 128, 256],
    "tile_s1": [64, 128, 256, 512],
    "qk_preload": range(1, 13),
    "fifo_depth": range(1, 17),
    "sync_period": [0, 1, 2, 4, 8],
    "split": ["NO_SPLIT", "UP_DOWN"],
    "pv_fifo_depth": range(17),
}
"""1,175,040 configurations of flash attention."""
WIDE_DOMAINS = {**MILLION_DOMAINS, "qk_preload": range(1, 17), "sync_period": range(17), "pv_fifo_depth": range(65)}
"""20 million configurations."""
WARM_DOMAINS: Mapping[str, int | str] = {
    "cube_s0": 128,
    "cube_s1": 128,
    "tile_s1": 256,
    "split": "UP_DOWN",
    "pv_fifo_depth": 0,
}
PACKAGES = ("numpy", "numba", "sqlalchemy")


class SweepError(ValueError):
    """A search that was to be measured did not run to its end."""


def sweep(rows: Sequence[int] = (), *, million: bool = True, store: bool = True) -> list[dict[str, Any]]:
    """Rates and peak memory of exhaustive searches of flash attention at s0 = s1 = 2048, stored in a SQLite file in a
    temporary folder (unless `store` is false): the default space, a million configurations, and as many more as `rows`
    says, each up to the 20 million of `WIDE_DOMAINS`.

    Kernels are compiled before the clock runs. `peak_mib` is that of the process, interpreter and libraries included
    (None where the system does not tell).
    """
    sets = [("default", 0), *([("million", MILLION)] if million else []), *(("wide", n) for n in rows)]
    return [_measured(name, n, store) for name, n in sets]


def _measured(name: str, rows: int, store: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "pto_tune.bench_sweep", name, str(rows), *([] if store else ["--no-store"])]
    here = str(Path(__file__).resolve().parents[1])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))}
    ran = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if ran.returncode != 0:
        said = ran.stderr.strip().splitlines() or [f"exit code {ran.returncode}"]
        raise SweepError(f"the search of the set {name!r} ended early: {said[-1]}")
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def run(name: str, rows: int, store: bool = True) -> dict[str, Any]:
    """One search, in this process: the set "default", "million" or "wide", its first `rows` configurations (0: all)."""
    from pto_tune.tuning import tune

    domains: dict[str, Mapping[str, Sequence[int | str]]] = {"million": MILLION_DOMAINS, "wide": WIDE_DOMAINS}
    with tempfile.TemporaryDirectory(prefix="pto-tune-sweep-") as folder:
        # compiles, and imports everything: the last configurations are legal ones
        warm = f"sqlite:///{folder}/warm.db" if store else None
        tune("flash_attention", problem=SIZES, domains=WARM_DOMAINS, strategy="exhaustive", store=warm)
        url = f"sqlite:///{folder}/sweep.db" if store else None
        given = {tunable: list(values) for tunable, values in domains.get(name, {}).items()}
        began = time.perf_counter()
        result = tune(
            "flash_attention", problem=SIZES, domains=given, strategy="exhaustive", budget=rows or None, store=url
        )
        seconds = time.perf_counter() - began
    return {
        "workload": "flash_attention",
        "set": name,
        **SIZES,
        "configurations": result.n_evaluated,
        "executed": sum(sum(k.values()) for verdict, k in result.counts.items() if verdict != "refused"),
        "store": "sqlite" if store else "",
        "seconds": round(seconds, 3),
        "configurations_per_s": round(result.n_evaluated / seconds),
        "peak_mib": _peak_mib(),
        "cores": len(os.sched_getaffinity(0)),
        "versions": {"python": platform.python_version(), **{p: version(p) for p in PACKAGES}, "sqlite": _sqlite()},
    }


def _sqlite() -> str:
    import sqlite3

    return sqlite3.sqlite_version


def _peak_mib() -> float | None:
    """Most memory that this process has held. Not `ru_maxrss`, which counts what the parent held when it started it."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return round(int(line.split()[1]) / 1024, 1)
    return None


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure one search and print what was found as JSON."""
    parser = argparse.ArgumentParser(prog="python -m pto_tune.bench_sweep", description=main.__doc__)
    parser.add_argument("set", choices=("default", "million", "wide"))
    parser.add_argument("rows", type=int)
    parser.add_argument("--no-store", action="store_true")
    given = parser.parse_args(arguments)
    print(json.dumps(run(given.set, given.rows, not given.no_store)))


if __name__ == "__main__":
    main()
