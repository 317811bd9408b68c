"""Builders, which make networks of populations and projections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _native
from . import models, plasticity
from .models import Model
from .network import Network, extents
from .plasticity import PlasticityRule
from .projections import ConnectionRule, Delay, Steps, Weight, delay_options, rule_options, weight_options


@dataclass(frozen=True)
class PopulationId:
    """The handle of a population, valid for the builder that returned it."""

    name: str
    number: int
    native: _native.SpikingPopulation = field(repr=False, compare=False)


class Builder:
    """A network under construction.

    >>> from kvrm.spiking import Builder, Feagi, OneToOne, Simulation
    >>> builder = Builder(1.0)  # steps of 1 ms
    >>> retina, map = (builder.population(name, 100, Feagi()) for name in ("retina", "map"))
    >>> builder.connect(retina, map, OneToOne(), weight=1)
    >>> simulation = Simulation(builder.build(), engine="reference")
    >>> simulation.record()
    >>> simulation.inject(7, 1)
    >>> report = simulation.run(2)
    >>> simulation.spikes.tolist()  # step and neuron
    [(0, 7), (1, 107)]

    :param dt: the length of a step, in ms.
    :param seed: the seed of all random numbers, those of projections and those of runs.
    :param fraction_bits: weights are multiples of 2^-``fraction_bits`` of FEAGI's units or of a mV. At most 20; with more of them
        the largest weight is smaller.
    :param injection_limit: the largest magnitude of a drive and of the injections into a neuron in one step, in the unit of weights.
        By default it is 2^24 times the smallest weight.
    :param max_delay: a delay in ms for which room is reserved, because a later change may need it.
    :raises kvrm.Error: a parameter is out of range.
    """

    def __init__(
        self,
        dt: float,
        *,
        seed: int = 0,
        fraction_bits: int = 0,
        injection_limit: float | None = None,
        max_delay: float | None = None,
    ) -> None:
        self._native = _native.SpikingBuilder(
            {
                "dt": dt,
                "seed": seed,
                "fraction_bits": fraction_bits,
                "injection_limit": injection_limit,
                "max_delay": max_delay,
            }
        )

    def population(
        self,
        name: str,
        neurons: int | tuple[int, int, int],
        model: Model | Sequence[Model],
        potential: ArrayLike | None = None,
    ) -> PopulationId:
        """Adds a population.

        :param neurons: the number of neurons, or the extents of a grid: the neuron at x, y, z has the index
            x + width (y + height z).
        :param model: the model of all neurons, or a list with one for each, all of one kind.
        :param potential: the initial membrane potential of all neurons, or an array with one for each, in FEAGI's units or mV. By
            default it is 0 for FEAGI neurons, the resting potential for LIF and ``c`` for Izhikevich neurons.
        :raises kvrm.Error: a parameter is out of range, or there is not one model or potential for each neuron.
            Nothing is added then.
        """
        each = list(model) if isinstance(model, Sequence) else [model]
        potentials = None if potential is None else np.atleast_1d(_floats(potential)).reshape(-1)
        options = [models.options(model) for model in each]
        native = self._native.population(name, extents(neurons), options, potentials)
        return PopulationId(name, native.number, native)

    def connect(
        self,
        source: PopulationId,
        target: PopulationId,
        rule: ConnectionRule,
        weight: Weight = 1.0,
        delay: Delay = Steps(1),
        *,
        autapses: bool = True,
        multapses: bool = True,
    ) -> None:
        """Connects the neurons of two populations.

        :param weight: in FEAGI's units or mV.
        :param delay: in ms, rounded to steps; :class:`Steps` is a number of steps.
        :param autapses: whether a neuron may be connected to itself.
        :param multapses: whether ``InDegree`` and ``OutDegree`` may connect the same pair several times; ``Total`` always may.
        :raises kvrm.Error: a parameter is out of range, or a population belongs to another builder.
        """
        projection: dict[str, object] = {
            "rule": rule_options(rule),
            "weight": weight_options(weight),
            "delay": delay_options(delay),
            "autapses": autapses,
            "multapses": multapses,
        }
        self._native.connect(source.native, target.native, projection)

    def connect_list(
        self,
        source: PopulationId,
        target: PopulationId,
        sources: ArrayLike,
        targets: ArrayLike,
        weights: ArrayLike,
        delays: ArrayLike,
    ) -> None:
        """Adds synapses, one for each entry of the arrays. A number stands for an array of this number.

        :param sources: the indices of neurons within the source population. Shape: synapses.
        :param targets: the indices of neurons within the target population. Shape: synapses.
        :param weights: in FEAGI's units or mV. Shape: synapses.
        :param delays: in ms, rounded to steps. Shape: synapses.
        :raises ValueError: the arrays have different shapes.
        :raises kvrm.Error: a neuron, a weight or a delay is out of range, or a population belongs to another builder. Nothing is
            added then.
        """
        ends = [_integers("sources", sources), _integers("targets", targets)]
        first, second, third, fourth = np.broadcast_arrays(*ends, _floats(weights), _floats(delays))
        columns = (
            np.ascontiguousarray(first, np.int64).reshape(-1),
            np.ascontiguousarray(second, np.int64).reshape(-1),
            np.ascontiguousarray(third, np.float64).reshape(-1),
            np.ascontiguousarray(fourth, np.float64).reshape(-1),
        )
        self._native.connect_list(source.native, target.native, columns)

    def learn(
        self,
        source: PopulationId,
        target: PopulationId,
        weights: tuple[float, float],
        rule: PlasticityRule,
    ) -> None:
        """Lets all synapses between two populations learn.

        :param weights: the lowest and the highest weight. A change stops there.
        :raises kvrm.Error: a parameter is out of range, or a population belongs to another builder.
        """
        self._native.learn(source.native, target.native, weights, plasticity.options(rule))

    def build(self) -> Network:
        """Generates all synapses. The builder is used up.

        :raises kvrm.Error: a parameter is out of range, memory is too small, or the inputs of a neuron in one step could overflow.
        """
        return Network(self._native.build())


def _integers(what: str, values: ArrayLike) -> NDArray[np.int64]:
    """Returns values as numbers of neurons."""
    array = np.asarray(values)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{what} of type {array.dtype}: expected integers")
    return array.astype(np.int64)


def _floats(values: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)
