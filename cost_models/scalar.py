"""The scalar process of a core, which issues the instructions of all its pipes in program order."""

import numpy as np

from cost_models.arrays import Floats
from cost_models.platform import Platform


def issue_cycles(platform: Platform) -> Floats:
    """Cycles that the scalar process needs to issue one instruction (a scalar; assumed).

    Limit: address arithmetic and loop control between instructions are part of this one figure.
    """
    return np.asarray(platform["scalar.issue"], dtype=np.float64)


def queue_depth(platform: Platform) -> int:
    """Instructions that a pipe's queue holds before the scalar process has to wait.

    Published for MTE1 (cannmirror/asc-devkit docs/zh), assumed to be the same for the other pipes.
    """
    return int(platform["scalar.queue_depth"])
