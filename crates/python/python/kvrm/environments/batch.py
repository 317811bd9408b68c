"""The results of steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..stops import Stops


@dataclass(frozen=True)
class Batch:
    """The results of the steps of some lanes. Each array has an entry for each of them."""

    lanes: NDArray[np.int64]
    """The lanes, in rising order. Shape: n."""
    observations: NDArray[np.uint8]
    """Shape: n, rows, columns, channels. The memory is used again by the step after the next."""
    rewards: NDArray[np.float64]
    """What the step has earned. Shape: n."""
    terminations: NDArray[np.bool_]
    """Whether the task has come to its end. Shape: n."""
    truncations: NDArray[np.bool_]
    """Whether the episode was cut off: by the program, by the limit of steps, or by a stop. Shape: n."""
    variables: dict[str, NDArray[np.int64]]
    """The values of each variable. Shape of each: n."""
    masks: NDArray[np.uint64]
    """Which values of each component of an action make sense in the next step: bit i is for the least value plus i. Components with
    more than 64 values have no mask: all bits are set. Shape: n, components."""
    instructions: NDArray[np.uint64]
    """The instructions that the program has executed for the step. Shape: n."""
    stops: Stops
    """Why the program does not wait for its next step: it has exited, failed, or used up its budget; ``None`` for all others."""
