"""Plots of spikes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .network import Network

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def raster(
    spikes: NDArray[Any],
    network: Network,
    ax: Axes | None = None,
    *,
    populations: Sequence[str] | None = None,
    neurons: int | None = None,
    size: float = 2.0,
) -> Axes:
    """Draws a point for each spike: time in ms to the right, and neurons downwards from the first population.

    :param spikes: an array of :data:`SPIKE`, such as ``simulation.spikes``.
    :param network: the network that has fired.
    :param ax: the axes of matplotlib; by default the current ones.
    :param populations: the names of the populations that are drawn; by default all.
    :param neurons: the largest number of neurons of a population, evenly spaced; by default all.
    :param size: the diameter of a point, in points of the paper.
    :returns: the axes.
    :raises ImportError: matplotlib is not installed; ``pip install kvrm[plot]`` does it.
    """
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install kvrm[plot]") from error

    axes = pyplot.gca() if ax is None else ax
    drawn = (
        list(network.populations) if populations is None else [network.population(name) for name in populations]
    )
    times = spikes["step"] * network.dt
    ticks, top = [], 0
    for population in drawn:
        count = len(population.neurons)
        stride = 1 if neurons is None else max(1, -(-count // neurons))
        indices = spikes["neuron"].astype(np.int64) - population.neurons.start
        is_drawn = (indices >= 0) & (indices < count) & (indices % stride == 0)
        rows = top + indices[is_drawn] // stride
        axes.plot(times[is_drawn], rows, ".", markersize=size, markeredgewidth=0, rasterized=True)
        height = -(-count // stride)
        ticks.append(top + (height - 1) / 2)
        top += height
    axes.set_yticks(ticks, [population.name for population in drawn])
    axes.set_ylim(top - 0.5, -0.5)
    axes.set_xlabel("time (ms)")
    return axes
