"""Baselines: what was found once, in a JSON file that is committed beside the kernels that use it.

A file has one entry for each tuned workload and problem size: what was asked (workload, sizes, domains, platform, rule
set, strategy, seed) and what came out (best configuration, its time, how many configurations had which verdict). It has
no dates and no machine in it, so the same result gives the same bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError

from pto_tune.whole_file import write_whole

MAX_BYTES = 16 * 2**20
MAX_ENTRIES = 1_000
_MAX_SHOWN = 20

Text = Annotated[StrictStr, Field(min_length=1, max_length=1_000)]
Sha256 = Annotated[StrictStr, Field(pattern="^[0-9a-f]{64}$")]
Value = StrictInt | StrictStr
Count = Annotated[StrictInt, Field(ge=0, lt=2**63)]
Positive = Annotated[StrictInt, Field(ge=1, lt=2**63)]


class BaselineError(ValueError):
    """A baseline that cannot be read, written or used; one sentence a line."""


class _Plain(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Best(_Plain):
    """The best configuration: problem sizes and tunables, its cycles of the core clock and its time."""

    configuration: dict[Text, Value]
    cycles: Positive
    time_us: Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Entry(_Plain):
    """One search and what it found.

    workload: name of a built-in one, path of a file relative to the baseline, or the description itself; platform: name
    or path likewise. budget: None where everything was looked at. counts: configurations by verdict and rule.
    """

    name: Text
    workload: Text | dict[str, Any]
    workload_sha256: Sha256
    problem: dict[Text, Value]
    domains: dict[Text, list[Value]]
    platform: Text
    platform_sha256: Sha256
    pto_isa: Text | None
    rule_set: Text
    timing: Text
    strategy: Text
    objectives: list[Text]
    budget: Positive | None
    seed: Count
    pto_tune: Text
    n_evaluated: Count
    best: Best
    counts: dict[Text, dict[StrictStr, Count]]


class _File(_Plain):
    format: Literal["pto-tune-baseline/1"]
    entries: Annotated[list[Entry], Field(min_length=1, max_length=MAX_ENTRIES)]


def read_baseline(path: str | Path) -> list[Entry]:
    """The entries of a baseline file. BaselineError with everything that is wrong in it."""
    try:
        with Path(path).open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is not usable"
        raise BaselineError(f"{path} cannot be read: {reason}; 'pto-tune check --write FILE' makes one") from None
    if len(content) > MAX_BYTES:
        raise BaselineError(f"{path} is larger than {MAX_BYTES // 2**20} MiB, which no baseline is")
    try:
        found = _File.model_validate(json.loads(content))
    except ValidationError as error:
        raise BaselineError("\n".join(_sentences(path, error))) from None
    except (ValueError, RecursionError):
        raise BaselineError(f"{path} is not JSON: a file of 'pto-tune check --write' would be right") from None
    names = [entry.name for entry in found.entries]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise BaselineError(f"{path} has two entries named {twice[0]!r}: give each a name of its own")
    return found.entries


def write_baseline(path: str | Path, entries: Sequence[Entry]) -> None:
    """Write a baseline file, complete or not at all. BaselineError where it cannot be written."""
    file = _File(format="pto-tune-baseline/1", entries=list(entries))
    text = json.dumps(file.model_dump(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    target = Path(os.path.realpath(path))
    try:
        write_whole(target, text.encode("utf-8", "backslashreplace"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the path is not usable"
        raise BaselineError(f"{path} cannot be written: {reason}") from None


def _sentences(path: str | Path, error: ValidationError) -> list[str]:
    errors = error.errors(include_url=False, include_input=False)
    shown = [f"{path}: {'.'.join(map(str, one['loc'])) or 'the file'}: {one['msg']}" for one in errors[:_MAX_SHOWN]]
    return shown + ([f"{path}: and {len(errors) - _MAX_SHOWN} more errors"] if len(errors) > _MAX_SHOWN else [])
