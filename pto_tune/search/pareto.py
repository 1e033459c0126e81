"""The exact Pareto front of two objectives, both to be small."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def front(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int64]:
    """Positions that no other point beats in one objective without losing in the other.

    `first`, `second`: (n,) finite numbers. Returns positions by increasing `first` and so by decreasing
    `second`. Of equal points the one that comes first is kept.
    """
    import numpy as np

    order = np.lexsort((second, first))  # stable, so equal points stay in their order
    values = second[order]
    keep = np.ones(order.shape[0], dtype=bool)
    keep[1:] = values[1:] < np.minimum.accumulate(values)[:-1]
    return order[keep].astype(np.int64)
