"""Points at which the numbers of a platform are sampled together.

A Latin hypercube: of `samples` equal slices of probability, each number takes the middle of every slice once, in an
order of its own. A time is nearly a sum of functions of one number each, and of such a sum this has hardly any error at
64 points in dozens of dimensions, where the first 64 points of a Sobol or R sequence are still bunched.

The order of a number depends on the seed and its key alone: whatever else is sampled, and for whichever
configurations, sample 17 has the same cross-core latency. So intervals of one configuration do not depend on what it is
compared with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cost_models.keys import CLOCK_KEY, CLOCKED_UNITS
from pto_tune.uncertainty.fits import fit_of, normals
from pto_tune.uncertainty.kinds import is_structural, quantiles, range_of

if TYPE_CHECKING:
    from cost_models.platform import Platform

    Floats = NDArray[np.float64]

MOST_SAMPLES = 4096


def uncertain_keys(platform: Platform, keys: Iterable[str]) -> list[str]:
    """Those of `keys` that sampling moves, in the platform's order."""
    wanted = set(keys)
    out = []
    for key, number in platform.numbers.items():
        if key in wanted and not is_structural(key):
            low, high = range_of(number)
            if low < high:
                out.append(key)
    return out


def points(keys: Sequence[str], samples: int, seed: int = 0) -> Floats:
    """Probabilities (samples, keys), each column a permutation of (i + 1/2) / samples.

    ValueError where `samples` is not 2 to `MOST_SAMPLES`.
    """
    if not 2 <= samples <= MOST_SAMPLES:
        raise ValueError(f"samples = {samples}: expected 2 to {MOST_SAMPLES}")
    out = np.empty((samples, len(keys)), dtype=np.float64)
    for k, key in enumerate(keys):
        digest = sha256(f"{seed}:{key}".encode()).digest()
        # the words of a bit generator stay the same from one NumPy to the next; what is made of them may not
        words = np.random.Philox(key=int.from_bytes(digest[:16], "little")).random_raw(samples)
        out[np.argsort(words, kind="stable"), k] = (np.arange(samples) + 0.5) / samples
    return out


def sampled_values(platform: Platform, keys: Sequence[str], samples: int, seed: int = 0) -> Floats:
    """Values (samples, keys) of the named numbers drawn together, in base units at the platform's own clock."""
    u = points(keys, samples, seed)
    out = np.empty_like(u)
    fit = fit_of(platform)
    for k, key in enumerate(keys):
        if fit is None or key not in fit.keys:
            out[:, k] = quantiles(platform.numbers[key], u[:, k])
    if fit is not None:
        # all numbers of the fit, those too that are not asked for: what is asked for does not change the others
        x = normals(points(fit.keys, samples, seed))
        z = (fit.triangle[None, :, :] * x[:, None, :]).sum(axis=2)
        for i, key in enumerate(fit.keys):
            if key in keys:
                out[:, list(keys).index(key)] = fit.values(platform.numbers[key], z[:, i])
    return out


def sampled_platforms(platform: Platform, keys: Sequence[str], samples: int, seed: int = 0) -> list[Platform]:
    """The platform `samples` times, with the named numbers drawn together."""
    values = sampled_values(platform, keys, samples, seed)
    return [at_values(platform, dict(zip(keys, map(float, row), strict=True))) for row in values]


def ends_of(platform: Platform, key: str, levels: Sequence[float]) -> Floats:
    """Values of one number by itself at these probabilities, in base units at the platform's own clock."""
    u, number, fit = np.array(levels, dtype=np.float64), platform.numbers[key], fit_of(platform)
    return quantiles(number, u) if fit is None or key not in fit.keys else fit.values(number, normals(u))


def at_values(platform: Platform, values: Mapping[str, float]) -> Platform:
    """The platform with other values, given in base units at its own clock.

    A number that its file states a second (GB/s, ns) keeps that meaning where the clock is moved too.
    """
    out = dict(values)
    if CLOCK_KEY in out:
        ratio = out[CLOCK_KEY] / platform[CLOCK_KEY]
        for key in out:
            unit = platform.numbers[key].unit
            if unit in CLOCKED_UNITS:
                out[key] = out[key] * ratio if unit == "ns" else out[key] / ratio
    return platform.with_values(out)
