"""Recorded and sampled spikes as arrays, and their statistics."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .network import Network, Population

SPIKE: np.dtype[Any] = np.dtype([("step", np.uint64), ("neuron", np.uint32)])
"""A recorded spike: the step, counted from the initial state, and the neuron. ``kvrm spike run --spikes`` has the same columns."""

SAMPLE: np.dtype[Any] = np.dtype(
    [
        ("step", np.uint64),
        ("neuron", np.uint32),
        ("population", np.uint32),
        ("x", np.uint32),
        ("y", np.uint32),
        ("z", np.uint32),
        ("potential", np.float64),
    ]
)
"""A sampled spike: step and neuron, the number of its population, its place in the grid, and the membrane potential that is compared
with the threshold: in FEAGI's units, in mV above the resting potential for LIF neurons, in mV for Izhikevich neurons, and NaN for
Poisson sources. ``kvrm spike run --sample`` has the same columns."""


class Statistics(NamedTuple):
    """Statistics of the spikes of a population."""

    population: str
    neurons: int
    spikes: int
    rate: float
    """The mean rate per neuron, in spikes a second."""
    cv: float | None
    """The coefficient of variation of the intervals between a neuron's spikes, averaged over neurons with at least three spikes: 0
    for a clock, 1 for random spikes. ``None`` if there are no such neurons."""
    correlation: float | None
    """Pearson's correlation coefficient of spike counts in bins of 2 ms, averaged over all pairs among at most 200 neurons. ``None``
    if there are none whose counts vary."""


def statistics(spikes: NDArray[Any], network: Network, steps: tuple[int, int]) -> list[Statistics]:
    """Returns the statistics of each population.

    :param spikes: an array of :data:`SPIKE`, sorted by step, such as ``simulation.spikes``.
    :param steps: the first step that counts, and the one behind the last.
    """
    columns = _columns(spikes)
    return [
        Statistics(
            population.name, *_native.spiking_statistics(*columns, _extent(network, population, steps))
        )
        for population in network.populations
    ]


def rates(
    spikes: NDArray[Any], network: Network, population: str | Population, steps: tuple[int, int], bin: float
) -> NDArray[np.float64]:
    """Returns the mean rate of the neurons of a population over time, in spikes a second.

    :param spikes: an array of :data:`SPIKE`, sorted by step.
    :param steps: the first step that counts, and the one behind the last.
    :param bin: the length of a bin in ms, rounded to steps.
    :returns: a rate for each bin, of which the last may be shorter. Shape: bins.
    """
    if isinstance(population, str):
        population = network.population(population)
    length = max(1, round(bin / network.dt))
    return _native.spiking_rates(*_columns(spikes), _extent(network, population, steps), length)


def array(steps: NDArray[np.uint64], neurons: NDArray[np.uint32]) -> NDArray[Any]:
    """Returns an array of :data:`SPIKE` of two columns."""
    spikes = np.empty(len(steps), SPIKE)
    spikes["step"] = steps
    spikes["neuron"] = neurons
    return spikes


def _columns(spikes: NDArray[Any]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    steps = np.ascontiguousarray(spikes["step"], dtype=np.uint64)
    return steps, np.ascontiguousarray(spikes["neuron"], dtype=np.uint32)


def _extent(network: Network, population: Population, steps: tuple[int, int]) -> dict[str, object]:
    return {
        "first_neuron": population.neurons.start,
        "last_neuron": population.neurons.stop,
        "first_step": steps[0],
        "last_step": steps[1],
        "dt": network.dt,
    }
