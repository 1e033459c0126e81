"""A sweep on the workers of a Dask scheduler that somebody else has started.

The process that calls this cuts the rows into shards, hands them out, and takes the results back in the order of the
rows; it alone writes to a store. Dask runs the shards of a worker that died on the others. Results are those of a
local sweep, bit for bit.

Trust: Dask's messages are pickles. Whoever can write to a scheduler's port can run code on the scheduler, on its
workers and in this process. Use schedulers that you trust in a network that you trust, or TLS with certificates
(`tls://` and Dask's own configuration, distributed.comm.tls).
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from pto_tune.search.shards import ShardError, ShardResult, batch_of, job_of, ready, run_shard
from pto_tune.search.strategies import SearchError

if TYPE_CHECKING:
    from distributed import Client, Future

    from pto_tune.evaluation import Problem
    from pto_tune.search.batches import Batch
    from pto_tune.search.strategies import Plan
    from pto_tune.space import Space
    from pto_tune.spaces.legal import LegalSpace

CONNECT_S = 10.0
"""Time in which a scheduler has to answer."""

FIRST_WORKER_S = 30.0
NO_WORKER_S = 300.0
"""Time in which a scheduler has to get its first worker, and another one after all are gone."""

TICK_S = 0.5
"""While no shard comes back, an empty batch is given so often: a sign of life, and the chance to stop."""

LOOK_S = 0.005
"""It is looked so often whether a shard is done: short beside a shard."""

REFRESH_S = 2.0
"""Workers are counted anew so often."""

FIRST_ROWS, MOST_ROWS = 1_024, 16_384
SHORT_S, LONG_S = 0.25, 2.0
"""A shard that takes less is followed by ones of twice the rows, one that takes more by ones of half of them."""

SHARDS_A_THREAD, MOST_SHARDS = 3, 512
"""Shards that are handed out and not taken back yet: they wait in the memory of the workers."""

RETRIES = 2
"""Of a shard that fails by an error (out of memory, a file system that is gone). A shard whose worker dies is run
again by Dask up to distributed.scheduler.allowed-failures times (3 where nobody has set it)."""

_ADDRESS = re.compile(r"(?:tcp|tls)://(?:\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}")


Sweep = Callable[[int, int], "Iterator[Batch]"]
"""Rows from a number to another, each once and in order, as `exhaustive` gives them."""


@contextmanager
def shared_out(
    scheduler: str | None, problem: Problem, space: Space, plan: Plan, legal: LegalSpace | None = None
) -> Iterator[Sweep | None]:
    """A sweep of a space (with `legal`: of its legal rows) that runs on the workers of a scheduler, until the end of
    the context, which cancels what is in flight. None where there is no scheduler.

    SearchError: no such address, nobody answers there, there are no workers, one of them cannot run the search
    (another version of pto-tune, NumPy or Numba, other numbers of the platform), Dask is not installed, or the
    search is no exhaustive one.
    """
    if scheduler is None:
        yield None
        return
    if plan.strategy != "exhaustive":
        raise SearchError(
            f"a scheduler shares out exhaustive searches, and this one is {plan.strategy!r}, which proposes by what it "
            "has seen: give the strategy 'exhaustive', fewer values, or no scheduler"
        )
    client = _client(scheduler)
    cluster = Cluster(client, scheduler, problem, space, legal)
    try:
        cluster.check()
        yield cluster.sweep
    finally:
        cluster.cancel()
        client.close(timeout=5)


def _client(scheduler: str) -> Client:
    if not isinstance(scheduler, str) or not _ADDRESS.fullmatch(scheduler):
        raise SearchError(f"scheduler {scheduler!r}: expected an address such as tcp://127.0.0.1:8786")
    try:
        from distributed import Client
    except ImportError as error:
        raise SearchError(
            f"a scheduler needs Dask ({error}): install it by pip install 'pto-tune[distributed]'"
        ) from error
    try:
        return Client(scheduler, timeout=CONNECT_S, set_as_default=False, name="pto-tune")
    except (OSError, ValueError) as error:
        raise SearchError(
            f"no Dask scheduler answers at {scheduler} ({_short(error)}): start one by 'dask scheduler'"
        ) from error


class Cluster:
    """One sweep on a scheduler and its workers. Made by `shared_out`."""

    def __init__(
        self, client: Client, scheduler: str, problem: Problem, space: Space, legal: LegalSpace | None = None
    ) -> None:
        self._client, self._scheduler = client, scheduler
        self._problem, self._space, self._legal = problem, space, legal
        self._job = job_of(problem, space)
        self._threads, self._counted, self._had_workers = 0, float("-inf"), time.monotonic()
        self._out: deque[tuple[Future[ShardResult], NDArray[np.int64]]] = deque()
        """Shards that are handed out, in the order of their rows, and the rows."""

    def check(self) -> None:
        """Wait for the first worker, and see that all that there are can run the job. SearchError names every one that
        cannot."""
        self._count(FIRST_WORKER_S)
        while not self._threads:
            time.sleep(TICK_S)
            self._count(FIRST_WORKER_S)
        try:
            answers: dict[str, Any] = self._client.run(ready, self._job, on_error="return")
        except Exception as error:
            raise self._lost(error) from error
        # a worker that is gone by now gets no shard
        wrong = {at: e for at, e in answers.items() if isinstance(e, Exception) and not isinstance(e, OSError)}
        if wrong:
            raise SearchError("\n".join(f"worker {at}: {_refusal(e)}" for at, e in sorted(wrong.items())))

    def cancel(self) -> None:
        """Ask for nothing more of what is handed out; best effort, the scheduler may be gone."""
        if self._out:
            with suppress(Exception):
                self._client.cancel([future for future, _ in self._out], force=True)
        self._out.clear()

    def sweep(self, start: int, end: int) -> Iterator[Batch]:
        """Rows (or legal rows) `start` .. `end` - 1, each once and in order. Empty batches come in between while
        nothing else does.

        SearchError: a worker cannot run the job, workers die of a shard, or there is nobody left.
        """
        token = uuid4().hex
        # a task like the shards, so that a text whose only holder dies is made again
        job = self._client.submit(_same, self._job, key=f"pto-tune-job-{token}", retries=RETRIES)
        rows = FIRST_ROWS
        while self._out or start < end:
            self._count(NO_WORKER_S)
            room = max(1, min(MOST_SHARDS, SHARDS_A_THREAD * self._threads))
            while start < end and len(self._out) < room:
                stop = min(start + rows, end)
                numbers = np.arange(start, stop, dtype=np.int64)
                at = None if self._legal is None else self._legal.rows(numbers)
                key = f"pto-tune-shard-{token}-{start}"
                future = self._client.submit(run_shard, job, start, stop, at, key=key, retries=RETRIES)
                self._out.append((future, numbers if at is None else at))
                start = stop
            future, looked_at = self._out[0]
            if not _settled(future):
                yield batch_of(self._problem, np.zeros(0, dtype=np.int64), None)
                continue
            result = self._result(future, looked_at)
            self._out.popleft()
            if result.seconds < SHORT_S:
                rows = min(MOST_ROWS, max(rows, 2 * looked_at.shape[0]))
            elif result.seconds > LONG_S:
                rows = max(1, min(rows, looked_at.shape[0] // 2))
            yield batch_of(self._problem, looked_at, result)

    def _result(self, future: Future[ShardResult], rows: NDArray[np.int64]) -> ShardResult:
        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker as error:
            raise SearchError(
                f"{len(rows)} configurations from row {rows[0]} ended every worker that had them: look at the "
                "workers' logs, most often there is too little memory for so many threads"
            ) from error
        except ValueError:
            raise
        except Exception as error:
            if future.cancelled() or isinstance(error, OSError):
                raise self._lost(error) from error
            raise SearchError(
                f"a worker failed at {len(rows)} configurations from row {rows[0]}: {_short(error)}"
            ) from error

    def _count(self, patience_s: float) -> None:
        """Count the workers' threads now and then; SearchError where there have been none for so long."""
        now = time.monotonic()
        if now < self._counted + (REFRESH_S if self._threads else TICK_S):
            return
        try:
            self._threads = sum(self._client.nthreads().values())
        except Exception as error:
            raise self._lost(error) from error
        self._counted = now
        if self._threads:
            self._had_workers = now
        elif now > self._had_workers + patience_s:
            raise SearchError(
                f"the scheduler {self._scheduler} has had no workers for {patience_s:g} s: start some by "
                f"'dask worker {self._scheduler}'"
            )

    def _lost(self, error: Exception) -> SearchError:
        return SearchError(
            f"the scheduler {self._scheduler} does not answer any more ({_short(error)}): what is stored is kept, "
            "resume the run when it is back"
        )


def _same(text: str) -> str:
    return text


def _settled(future: Future[ShardResult]) -> bool:
    """Whether a future is done, or is within a tick."""
    until = time.monotonic() + TICK_S
    while not future.done():
        if time.monotonic() > until:
            return False
        time.sleep(LOOK_S)
    return True


def _refusal(error: Exception) -> str:
    """Why a worker cannot run a job."""
    if isinstance(error, ShardError):
        return str(error)
    if isinstance(error, ImportError):
        return f"cannot import pto-tune of this version ({_short(error)}): install the same versions there"
    return f"cannot run the search ({_short(error)})"


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
