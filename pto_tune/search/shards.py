"""Shards: a sweep as texts and row numbers, so that any process can evaluate a part of it.

A `Job` is a text with everything that decides the results: workload, numbers of the platform, rule set, timing, problem
sizes and domains. `run_shard(job, ...)` is a pure function of that text and of rows: it reads no file, no
environment and no clock for its results, and where it runs makes no difference to a bit of them. Nothing here knows
how shards reach other processes.
"""

from __future__ import annotations

import json
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pto_tune.evaluation import MEMORIES, RESOURCE_NAMES, Evaluation, Problem
from pto_tune.search.batches import Batch, evaluated

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.space import Space

Columns = dict[str, NDArray[Any]]

FORMAT = "pto-tune-shard/1"

KEPT = 4
"""Problems that a process keeps, for the shards that follow."""

_TYPES: dict[str, type[np.generic]] = {
    "verdict": np.int8,
    "rule": np.int16,
    "cycles": np.int64,
    "timed": np.bool_,
    "stretch": np.float64,
    "bound": np.int16,
    "derived_period": np.bool_,
    "busy": np.int64,
}
"""The columns of an evaluation that store, tally and leaders read, with their types there."""


class ShardError(ValueError):
    """This process cannot evaluate the shard as the sender would."""


@dataclass(frozen=True)
class ShardResult:
    """`columns`: of all rows of the shard in order, integers in the smallest type that holds them; `rules`: names that
    the column `rule` counts; `seconds`: what it took."""

    columns: Columns
    rules: tuple[str, ...]
    seconds: float


@cache
def facts() -> dict[str, str]:
    """What has to be equal in two processes whose results have to be equal: versions, and a hash over the sources of
    pto_tune and cost_models, which tells two states of one version apart."""
    import platform

    from pto_tune.search.spec import OWN, versions

    found = versions()
    out = {name: found.get(name, "missing") for name in (OWN, "numpy", "numba")}
    out["python"] = ".".join(platform.python_version_tuple()[:2])
    out["source"] = _source_sha256()[:12]
    return out


def differences(theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """In words what is different in another process; "" where nothing is."""
    return ", ".join(f"{name} {theirs.get(name, 'missing')} instead of {v}" for name, v in ours.items()
                     if theirs.get(name) != v)  # fmt: skip


def job_of(problem: Problem, space: Space) -> str:
    """A search as a text: equal searches have equal texts."""
    from pto_tune.model.serial import to_dict

    platform = problem.platform
    content = {
        "format": FORMAT,
        "facts": facts(),
        "workload": to_dict(problem.workload),
        "platform": {
            "head": [platform.name, platform.family, platform.soc, platform.description],
            "numbers": [asdict(number) for number in platform.numbers.values()],
            "sha256": platform.sha256,
        },
        "rule_set": problem.rule_set.pto_isa or problem.rule_set.name,
        "timing": problem.timing,
        "problem": [list(pair) for pair in space.problem],
        "domains": [[name, list(values)] for name, values in space.domains],
    }
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def ready(job: str) -> None:
    """Do for a job what comes once in a process. Raises as `run_shard`."""
    _opened(job)


def run_shard(job: str, start: int, stop: int, rows: NDArray[np.int64] | None = None) -> ShardResult:
    """Evaluate the rows `start` .. `stop` - 1 of a job, or `rows` where they are given, on one thread.

    Raises:
        ShardError: this process has other versions than the sender, or makes other numbers of the platform.
        ValueError: as the evaluation itself.
    """
    began = time.perf_counter()
    problem, space = _opened(job)
    at = np.arange(start, stop, dtype=np.int64) if rows is None else np.asarray(rows, dtype=np.int64)
    parts = [_columns_of(batch.evaluation) for batch in evaluated(problem, space, at, threads=1)]
    rules = tuple(parts[0][1])
    columns = {name: _small(np.concatenate([part[name] for part, _ in parts])) for name in parts[0][0]}
    return ShardResult(columns, rules, time.perf_counter() - began)


def batch_of(problem: Problem, rows: NDArray[np.int64], result: ShardResult | None) -> Batch:
    """The batch that a shard makes in the sender's process: what `evaluated` gives for these rows, without what only
    an explanation reads (table, broken rules by row, execution). None: a batch without rows.

    ShardError where the result is not of these rows.
    """
    n, pipes = rows.shape[0], problem.code.pipes
    given = {} if result is None else result.columns
    shapes = {name: (n, len(pipes)) if name == "busy" else (n,) for name in (*_TYPES, *MEMORIES)}
    if result is None:
        given = {name: np.zeros(shape, np.int8) for name, shape in shapes.items()}
    wrong = [name for name, shape in shapes.items() if name not in given or given[name].shape != shape]
    if wrong:
        raise ShardError(f"a shard of {n} rows came back with other columns ({', '.join(wrong)}): expected one a row")
    column: Any = {name: np.ascontiguousarray(given[name], dtype=kind) for name, kind in _TYPES.items()}
    rules = [] if result is None else list(result.rules)
    evaluation = Evaluation(
        problem=problem,
        table={},
        rules=rules,
        bounds=[*pipes, *RESOURCE_NAMES],
        bytes={name: given[name].astype(np.int64) for name in MEMORIES},
        broken=np.zeros((len(rules), 0), dtype=bool),
        run_row=np.full(n, -1, dtype=np.int64),
        execution=None,
        **column,
    )
    return Batch(rows, evaluation)


def _columns_of(e: Evaluation) -> tuple[Columns, list[str]]:
    columns: Columns = {name: getattr(e, name) for name in _TYPES}
    return {**columns, **{name: e.bytes[name] for name in MEMORIES}}, e.rules


def _small(column: NDArray[Any]) -> NDArray[Any]:
    """Integers in the smallest signed type that holds them all; anything else as it is."""
    if column.dtype.kind != "i" or not column.size:
        return column
    least, most = int(column.min()), int(column.max())
    return column.astype(np.promote_types(np.min_scalar_type(min(least, -1)), np.min_scalar_type(-1 - max(most, 0))))


def _platform(data: Mapping[str, Any]) -> Platform:
    from cost_models.platform import Number, Platform

    numbers = {number["key"]: Number(**number) for number in data["numbers"]}
    name, family, soc, description = data["head"]
    return Platform(name, family, soc, description, numbers, "")


_problems: OrderedDict[str, tuple[Problem, Space]] = OrderedDict()
_lock = threading.Lock()


def _opened(job: str) -> tuple[Problem, Space]:
    """Problem and space of a job; the last few are kept, as lowering takes longer than a small shard."""
    digest = sha256(job.encode("utf-8")).hexdigest()
    with _lock:
        if digest in _problems:
            _problems.move_to_end(digest)
            return _problems[digest]
        found = _problems[digest] = _read(job)
        while len(_problems) > KEPT:
            _problems.popitem(last=False)
        return found


def _read(job: str) -> tuple[Problem, Space]:
    from pto_tune.model.serial import from_dict
    from pto_tune.space import Space

    data = json.loads(job)
    if data["format"] != FORMAT:
        raise ShardError(f"a shard has the format {data['format']!r}: this pto-tune reads {FORMAT!r}")
    other = differences(facts(), data["facts"])
    if other:
        raise ShardError(f"has {other}: install the same versions there")
    platform = _platform(data["platform"])
    if platform.sha256 != data["platform"]["sha256"]:
        raise ShardError(
            f"makes other numbers of platform {platform.name!r} (sha256 {platform.sha256[:12]} instead of "
            f"{data['platform']['sha256'][:12]}): install the same versions there"
        )
    workload = from_dict(data["workload"])
    problem = Problem.of(workload, platform, data["rule_set"], data["timing"])
    domains = tuple((name, tuple(values)) for name, values in data["domains"])
    return problem, Space(workload, tuple((name, value) for name, value in data["problem"]), domains)


def _source_sha256() -> str:
    """Hash over the Python and TOML files of the packages that decide results."""
    from importlib import resources
    from pathlib import Path

    digest = sha256()
    for package in ("cost_models", "pto_tune"):
        root = Path(str(resources.files(package)))
        for path in sorted(p for p in root.rglob("*") if p.suffix in (".py", ".toml") and p.is_file()):
            digest.update(f"{package}/{path.relative_to(root).as_posix()}\0".encode())
            digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()
