"""Networks of the literature. All random numbers follow from their seeds."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .. import _native
from .network import Network


def microcircuit(
    scale: float = 1.0,
    background: Literal["poisson", "constant"] = "poisson",
    dt: float = 0.1,
    seed: int = 55,
) -> Network:
    """The cortical microcircuit of Potjans and Diesmann (2014): 77,169 neurons and 299 million synapses.

    :param scale: the scale of the number of neurons and of the synapses per neuron, more than 0 and at most 1.
    :param background: the external input: Poisson spike trains, or their mean as a constant current.
    :param dt: the length of a step, in ms.
    """
    return _build("microcircuit", {"scale": scale, "background": background, "dt": dt, "seed": seed})


def vogels_abbott(
    neurons: int = 4000, probability: float = 0.02, drive: float = 1.0, delay: float = 0.8, seed: int = 55
) -> Network:
    """The current-based network of Vogels and Abbott (2005), with steps of 0.1 ms. It sustains its own activity.

    :param probability: the connection probability of each pair of neurons.
    :param drive: the distance of the resting potential above the threshold, in mV. With more than 1, neurons fire faster.
    :param delay: in ms.
    """
    options: dict[str, object] = {"neurons": neurons, "probability": probability, "drive": drive}
    return _build("vogels-abbott", options | {"delay": delay, "seed": seed})


def balanced(neurons: int = 1_000_000, synapses: int = 1000, dt: float = 0.1, seed: int = 55) -> Network:
    """The balanced network of Brunel (2000). Its neurons fire irregularly, about 10 times a second.

    :param neurons: their number; four fifths are excitatory.
    :param synapses: the number of synapses of each neuron.
    :param dt: the length of a step, in ms.
    """
    return _build("balanced", {"neurons": neurons, "synapses": synapses, "dt": dt, "seed": seed})


def hpc_benchmark(scale: float = 1.0, seed: int = 55) -> Network:
    """A balanced network after NEST's ``hpc_benchmark`` (Morrison and others, 2007), with steps of 0.1 ms. The synapses between
    excitatory neurons learn.

    :param scale: the scale of the number of neurons, which is 11,250 at scale 1. Each has 11,250 sources at any scale.
    """
    return _build("hpc-benchmark", {"scale": scale, "seed": seed})


def fly(
    neurons: int = 138_000, degree: float = 109.0, sensory: int = 20, rate: float = 150.0, seed: int = 55
) -> Network:
    """A network with the size of a fly's brain, and similarly skewed distributions of degrees and weights, with steps of 0.1 ms.

    :param degree: the mean number of target neurons of a neuron.
    :param sensory: the number of sensory neurons, which come first and which Poisson sources drive.
    :param rate: the rate of each source, in spikes a second.
    """
    options: dict[str, object] = {"neurons": neurons, "degree": degree, "sensory": sensory}
    return _build("fly", options | {"rate": rate, "seed": seed})


def feagi(neurons: int = 500_000, synapses: int = 100, seed: int = 55) -> Network:
    """An area of FEAGI with random synapses and steps of 1 ms. Only :func:`feagi_input` makes neurons fire.

    :param synapses: the number of synapses of each neuron.
    """
    return _build("feagi", {"neurons": neurons, "synapses": synapses, "seed": seed})


def feagi_input(
    neurons: int, part: float = 0.01, steps: int = 1, seed: int = 55
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], float]:
    """Returns input that makes a part of the neurons of :func:`feagi` fire in each step, different ones each time.

    ``simulation.inject_at(*feagi_input(network.neurons, steps=100))`` injects it.

    :param part: the fraction of neurons that fire in a step.
    :returns: steps, neurons, and the amount. Shape of both arrays: injections.
    """
    return _native.spiking_feagi_input(neurons, part, steps, seed)


def _build(name: str, options: dict[str, object]) -> Network:
    return Network(_native.spiking_network(name, options))
