"""Networks: populations and synapses."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from typing import Any, NamedTuple, Union, cast

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..errors import Error
from .models import ModelName


class Population(NamedTuple):
    """Consecutively numbered neurons of one model."""

    number: int
    """The number of the population in the network."""
    name: str
    model: ModelName
    """``feagi``, ``lif``, ``izhikevich`` or ``poisson``."""
    neurons: range
    """The numbers of the neurons in the network."""
    dimensions: tuple[int, int, int]
    """The extents of the grid: the neuron at x, y, z has the index x + width (y + height z)."""


class Synapses(NamedTuple):
    """Synapses in columns, sorted by source and target. Neurons have their numbers in the network."""

    sources: NDArray[np.uint32]
    """Shape: synapses."""
    targets: NDArray[np.uint32]
    """Shape: synapses."""
    weights: NDArray[np.float64]
    """In FEAGI's units or mV. Shape: synapses."""
    delays: NDArray[np.float64]
    """In ms. Shape: synapses."""


Neurons = Union[int, range, slice, Sequence[int], NDArray[np.integer[Any]], str, Population, None]
"""Some neurons of a network: a number, a range or slice, a list of numbers, a population or its name; ``None`` for all."""


class Network:
    """A network: populations, their parameters, and synapses. It can be pickled, and does not change.

    Make one with :class:`Builder`, :func:`open`, :func:`describe`, :func:`from_nir`, or a function of
    :mod:`kvrm.spiking.networks`. Two networks are equal if all their numbers are.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, native: _native.SpikingNetwork) -> None:
        self.native = native
        self._populations: tuple[Population, ...] | None = None

    @staticmethod
    def from_bytes(file: bytes) -> Network:
        """Reads the bytes of a file that :meth:`save` wrote.

        :raises kvrm.Error: they contain no valid network.
        """
        return Network(_native.SpikingNetwork.from_bytes(file))

    def to_bytes(self) -> bytes:
        """Returns what :meth:`save` writes. The same network always gives the same bytes."""
        return self.native.to_bytes()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a ``.safetensors`` file, which :func:`open` and the command ``kvrm spike`` read.

        :raises kvrm.Error: the file cannot be written.
        """
        self.native.save(path)

    @property
    def dt(self) -> float:
        """The length of a step, in ms."""
        return self.native.dt

    @property
    def seed(self) -> int:
        """The seed of all random numbers."""
        return self.native.seed

    @property
    def fraction_bits(self) -> int:
        """The fraction bits of weights, which are multiples of 2^-``fraction_bits``."""
        return self.native.fraction_bits

    @property
    def injection_limit(self) -> float:
        """The largest magnitude of a drive and of the injections into a neuron in one step, in the unit of weights."""
        return self.native.injection_limit

    @property
    def max_delay(self) -> float:
        """The longest delay that is possible, in ms."""
        return self.native.max_delay

    @property
    def neurons(self) -> int:
        """The number of neurons."""
        return self.native.neurons

    @property
    def synapse_count(self) -> int:
        """The number of synapses."""
        return self.native.synapse_count

    @property
    def learns(self) -> bool:
        """Whether any weights learn."""
        return self.native.learns

    @property
    def populations(self) -> tuple[Population, ...]:
        """The populations, in the order of their neurons."""
        if self._populations is None:
            rows = enumerate(self.native.populations())
            self._populations = tuple(
                Population(number, name, cast(ModelName, model), range(start, end), dimensions)
                for number, (name, model, (start, end, dimensions)) in rows
            )
        return self._populations

    def population(self, name: str) -> Population:
        """Returns the population with a name, the first if there are several.

        :raises kvrm.Error: there is none.
        """
        for population in self.populations:
            if population.name == name:
                return population
        names = ", ".join(population.name for population in self.populations)
        raise Error(f"there is no population {name!r}, only {names}")

    def synapses(self, sources: Neurons = None) -> Synapses:
        """Returns the synapses that leave some neurons, or all. A synapse takes 24 bytes.

        :param sources: consecutive neurons.
        """
        return Synapses(*self.native.synapses(*span(self, sources)))

    def __eq__(self, other: object) -> bool:
        return self.native.equals(other.native) if isinstance(other, Network) else NotImplemented

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        return (Network.from_bytes, (self.to_bytes(),))

    def __repr__(self) -> str:
        names = ", ".join(f"{population.name!r}" for population in self.populations[:8])
        more = ", ..." if len(self.populations) > 8 else ""
        return f"Network({self.neurons} neurons, {self.synapse_count} synapses, populations={names}{more})"


def extents(neurons: int | tuple[int, int, int]) -> dict[str, int]:
    """Returns the extents of a grid, or of a line of neurons."""
    each = neurons if isinstance(neurons, tuple) else (neurons, 1, 1)
    if len(each) != 3:
        raise ValueError(f"neurons {neurons}: expected a number, or a width, a height and a depth")
    return dict(zip(("width", "height", "depth"), each, strict=True))


def numbers(network: Network, neurons: Neurons) -> NDArray[np.int64]:
    """Returns the numbers of some neurons."""
    if isinstance(neurons, str):
        neurons = network.population(neurons)
    if isinstance(neurons, Population):
        neurons = neurons.neurons
    if neurons is None:
        neurons = range(network.neurons)
    if isinstance(neurons, slice):
        neurons = range(network.neurons)[neurons]
    if isinstance(neurons, range):
        return np.arange(neurons.start, neurons.stop, neurons.step, dtype=np.int64)
    array = np.atleast_1d(np.asarray(neurons))
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"neurons of type {array.dtype}: expected integers")
    return array.astype(np.int64)


def span(network: Network, neurons: Neurons) -> tuple[int, int]:
    """Returns the first of consecutive neurons, and the number behind the last one."""
    if isinstance(neurons, (int, np.integer)):
        neurons = range(operator.index(neurons), operator.index(neurons) + 1)
    all_of_them = numbers(network, neurons)
    if all_of_them.size == 0:
        return (0, 0)
    start, end = int(all_of_them[0]), int(all_of_them[-1]) + 1
    if all_of_them.size != end - start or (np.diff(all_of_them) != 1).any():
        raise ValueError("neurons: expected consecutive numbers")
    if start < 0 or end > network.neurons:
        wrong = start if start < 0 else end - 1
        raise Error(f"there is no neuron {wrong}: there are {network.neurons}, numbered from 0")
    return (start, end)
