"""Equal rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def group_rows(rows: Ints) -> tuple[Ints, Ints]:
    """Distinct rows: indices of representatives, and for each row the number of its group."""
    import numpy as np

    mix = np.random.default_rng(12345).integers(1, 2**63 - 1, rows.shape[1], dtype=np.int64) | 1
    with np.errstate(over="ignore"):
        key = (rows * mix).sum(axis=1)
    _, representative, inverse = np.unique(key, return_index=True, return_inverse=True)
    if not np.array_equal(rows[representative][inverse], rows):  # two rows with one key
        _, representative, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return representative.astype(np.int64), inverse.reshape(-1).astype(np.int64)
