"""States of networks."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .network import Network


@dataclass(frozen=True, eq=False)
class State:
    """Everything that changes during a run, in integers. It is the same on every engine, bit by bit, and can be pickled."""

    step: int
    """The number of steps executed."""
    columns: NDArray[np.uint32]
    """The state words of all neurons, column by column. Shape: 4 neurons."""
    ring: NDArray[np.int32]
    """The pending inputs by slot, port and neuron, in the smallest weights. Shape: slots ports neurons."""
    marks: NDArray[np.uint32]
    """A bit for each slot and neuron whose inputs add up to zero; empty without FEAGI neurons."""
    fired: NDArray[np.uint32]
    """A bit for each neuron that fired in the last step. Shape: neurons / 32, rounded up."""
    history: NDArray[np.uint64]
    """The spike history of each neuron: bit k is a spike k steps before the last step. Empty if no weights learn."""
    weights: NDArray[np.uint32]
    """The words of all synapses; empty if no weights learn."""
    drives: NDArray[np.int32]
    """The drive of each population, in the smallest weights. Shape: populations."""

    @staticmethod
    def load(path: str | os.PathLike[str], network: Network) -> State:
        """Reads a file that :meth:`save` or ``kvrm spike run --save-state`` wrote.

        :raises kvrm.Error: the file cannot be read, or contains no valid state of the network.
        """
        return from_fields(_native.spiking_load_state(path, network.native))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a ``.safetensors`` file.

        :raises kvrm.Error: the file cannot be written.
        """
        _native.spiking_save_state(path, self.fields())

    def fields(self) -> dict[str, object]:
        """Returns the step and the arrays by name."""
        contiguous = {name: np.ascontiguousarray(value) for name, value in vars(self).items() if name != "step"}
        return {"step": self.step, **contiguous}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        names = (field.name for field in fields(self))
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    def __repr__(self) -> str:
        return f"State(step={self.step}, {self.columns.size // 4} neurons)"


def from_fields(values: dict[str, object]) -> State:
    """Returns the state with these fields."""
    return State(**cast(dict[str, Any], values))
