"""Many writers at once: nothing is lost, nobody is turned away."""

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import db
from db import RunSpec, Store

WRITERS = 8
CALLS = 12
ROWS = 250

MakeSpec = Callable[..., RunSpec]

# Each process opens a place where there may be no store yet, joins in one run and makes one of its own.
PROGRAM = f"""
import dataclasses, sys
import numpy as np
import db

writer = int(sys.argv[2])
with db.open_store(sys.argv[1]) as store:
    spec = db.RunSpec(
        workload="w", workload_json="{{}}", problem={{}}, platform="p", platform_sha256="", rule_set="a2a3",
        timing="task", strategy="random", objectives=("time",), spec_sha256="shared", versions={{}},
        tunables=(), rules=(), verdicts=("ok",), pipes=(), clock_mhz=1.0, launch_us=0.0, n_candidates=0,
    )
    own = store.create_run(spec)
    try:
        run = store.create_run(dataclasses.replace(spec, name="shared"))
    except db.StoreError:
        run = store.find_run("shared")
    for call in range({CALLS}):
        first = (writer * {CALLS} + call) * {ROWS}
        cycles = np.arange(first, first + {ROWS})
        columns = {{"verdict": np.zeros({ROWS}, dtype=np.int64), "cycles": cycles}}
        store.add_configurations(run.id, columns, first)
        store.progress(own.id, call + 1)
    store.finish_run(own.id, "done")
"""


def check_shared(store: Store, run_id: int) -> None:
    got = store.configurations(run_id, ["row", "cycles"])
    assert np.array_equal(got["row"], np.arange(WRITERS * CALLS * ROWS))
    assert np.array_equal(got["cycles"], got["row"])


def test_eight_threads_write_through_one_store(store: Store, spec: MakeSpec) -> None:
    run = store.create_run(spec())

    def write(writer: int) -> None:
        for call in range(CALLS):
            first = (writer * CALLS + call) * ROWS
            cycles = np.arange(first, first + ROWS)
            columns = {"verdict": np.zeros(ROWS, dtype=np.int64), "cycles": cycles}
            store.add_configurations(run.id, columns, first)
            store.progress(run.id, first)
            store.configurations(run.id, ["row"], limit=3)

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))
    check_shared(store, run.id)


def test_eight_processes_make_the_store_and_write_to_it(url: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(db.__file__).parents[1])}
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", PROGRAM, url, str(writer)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for writer in range(WRITERS)
    ]
    complaints = [process.communicate(timeout=240)[1] for process in processes]
    assert complaints == [""] * WRITERS
    with db.open_store(url, create=False) as store:
        runs = store.find_spec("shared")
        own = [run for run in runs if run.name != "shared"]
        assert len(runs) == WRITERS + 1
        assert {(run.state, run.n_evaluated) for run in own} == {("done", CALLS)}
        assert {run.name for run in own} == {f"w-p-{run.id}" for run in own}
        check_shared(store, store.find_run("shared").id)


def test_eight_threads_open_an_empty_place_at_once(url: str) -> None:
    def open_and_ask(_: int) -> int:
        with db.open_store(url) as store:
            return len(store.runs())

    with ThreadPoolExecutor(WRITERS) as pool:
        assert list(pool.map(open_and_ask, range(WRITERS))) == [0] * WRITERS
