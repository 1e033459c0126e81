"""Platforms whose fitted numbers never saw one table: leave-one-table-out, as data (`left_out.toml`).

The numbers are made by `pto_tune.published.making`: everything is fitted again without the rows of the table, and what
only that table tells is as it was published or assumed without it. Limit: the ranges of the numbers, inside which they
are fitted or from whose middle they are taken, stay; some of them are quoted from the same table.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from cost_models.keys import CLOCK_KEY, to_base
from cost_models.platform import standing_fits
from cost_models.schema import builtin_files

if TYPE_CHECKING:
    from cost_models.platform import Platform


def tables_fitted_to() -> tuple[str, ...]:
    """The tables that some number was fitted to, in alphabetical order; without those whose numbers stand apart (see
    `making.Step`), which are never left out."""
    return tuple(sorted(_data()))


def without(platform: Platform, table: str) -> Platform:
    """`platform` with the built-in fits made without `table`; itself where that changes nothing.

    Numbers that a file of its own or the caller replaced stay.
    """
    numbers = _data().get(table, {}).get(platform.family, {})
    own = {os.path.realpath(path) for path in builtin_files().values()}
    fits = [fit for fit in standing_fits(platform) if os.path.realpath(fit.path) in own]
    standing = {fit.covariance.keys[i] for fit in fits for i in fit.standing}
    clock_mhz = platform[CLOCK_KEY]
    values = {k: to_base(v, unit, clock_mhz) for k, (v, unit) in numbers.items() if k in standing}
    return platform.with_values(values) if values else platform


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Mapping[str, Mapping[str, tuple[float, str]]]]:
    """Value and unit by table, family and key."""
    text = files(__package__).joinpath("left_out.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
