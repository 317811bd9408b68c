"""Simulations, which run networks step by step."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _native
from ..errors import Error
from . import changes
from .changes import Change
from .engine import AnyEngine, EngineChoice, open_engine
from .network import Network, Neurons, Population, Synapses, numbers, span
from .spikes import SAMPLE, array
from .state import State, from_fields

CAPACITY = 20_000_000
"""The number of spikes for which a recorder has room, unless it is told otherwise."""

STEPS_MAX = (1 << 63) - 1
"""The number of the last step."""


class Progress(NamedTuple):
    """The progress of a run."""

    steps: int
    """The steps that this run has executed."""
    of: int
    """The steps that it will execute."""
    seconds: float
    """The time since the run began."""


@dataclass(frozen=True)
class Report:
    """The report of a run. ``print(report)`` shows it in a line."""

    steps: int
    """The steps that were executed."""
    wall_seconds: float
    """The time of the run, in seconds."""
    dt: float
    """The length of a step, in ms."""

    @property
    def real_time_factor(self) -> float:
        """The time of the run divided by the simulated time: below 1 is faster than real time."""
        return self.wall_seconds / max(self.steps * self.dt / 1000, 1e-9)

    def __str__(self) -> str:
        steps = f"{self.steps} steps of {self.dt:g} ms in {self.wall_seconds:.3f} s"
        return f"{steps}, real-time factor {self.real_time_factor:.3f}"


class Simulation:
    """A network and the engine that runs it, with pending injections and a recorder of spikes.

    Amounts are in the unit of weights of the network: FEAGI's units or mV.

    >>> from kvrm.spiking import Simulation, networks
    >>> simulation = Simulation(networks.vogels_abbott(seed=1), engine="parallel")
    >>> simulation.record()
    >>> print(simulation.run(1000))
    1000 steps of 0.1 ms in ... s, real-time factor ...
    >>> simulation.spikes.dtype.names
    ('step', 'neuron')

    :param network: the network, of which the simulation has a copy.
    :param engine: a name, an :class:`Engine`, or an open one. States and spikes do not depend on it.
    :param adapter: the GPU, if the engine is given by its name: a part of its name, or its index in :func:`kvrm.adapters`.
    :raises kvrm.Error: the network does not fit in memory.
    :raises kvrm.EngineError: the engine cannot be opened, or the network does not fit on it.
    """

    def __init__(self, network: Network, engine: AnyEngine = "auto", adapter: str | None = None) -> None:
        opened = open_engine(engine, adapter)
        self._engine = opened.choose(network)
        self._native = _native.SpikingSimulation(network.native, opened.native)
        self._network: Network | None = network
        self._dt = network.dt
        self._recorded: range | None = None

    @property
    def network(self) -> Network:
        """The network, with all changes. Weights that have learned are in :meth:`synapses`."""
        if self._network is None:
            self._network = Network(self._native.network())
        return self._network

    @property
    def engine(self) -> EngineChoice:
        """The engine that was chosen."""
        return self._engine

    @property
    def step(self) -> int:
        """The number of steps executed so far."""
        return self._native.step

    @property
    def time(self) -> float:
        """The simulated time so far, in ms."""
        return self.step * self._dt

    def run(self, steps: int, progress: Callable[[Progress], object] | bool = False) -> Report:
        """Runs some steps.

        Other threads of Python run meanwhile. Ctrl-C ends the run between two steps with ``KeyboardInterrupt``, and another run
        continues it. The state does not depend on how steps are divided into runs.

        :param steps: the number of steps.
        :param progress: a function that is called several times a second at most. If it returns ``False``, the run ends. ``True`` shows
            a bar of the package tqdm.
        :raises kvrm.RecordingOverflow: after all steps, if the recorder had too little room.
        :raises kvrm.EngineError: the engine fails.
        """
        count = operator.index(steps)
        if not 0 <= count <= STEPS_MAX - self.step:
            raise ValueError(f"steps {steps}: expected 0 or more, and step 2^63 - 1 is the last")
        if progress is True:
            return self._run_with_bar(count)
        observe = None
        if progress:

            def observe(done: int, seconds: float) -> bool:
                return progress(Progress(done, count, seconds)) is not False

        done, seconds = self._native.run(count, observe)
        return Report(done, seconds, self._dt)

    def _run_with_bar(self, steps: int) -> Report:
        """Runs with a progress bar."""
        from tqdm.auto import tqdm

        with tqdm(total=steps, unit="step") as bar:

            def observe(done: int, seconds: float) -> bool:
                bar.update(done - bar.n)
                return True

            done, seconds = self._native.run(steps, observe)
        return Report(done, seconds, self._dt)

    def record(self, capacity: int = CAPACITY, neurons: Neurons = None) -> None:
        """Records spikes from now on. Spikes recorded before are dropped.

        :param capacity: the largest number of spikes. More are an error, which says how many were lost.
        :param neurons: consecutive neurons that are recorded; by default all, also those of populations that are added later.
        """
        room = operator.index(capacity)
        if room < 0:
            raise ValueError(f"capacity {capacity}: expected 0 or more")
        first, end = (0, (1 << 32) - 1) if neurons is None else span(self.network, neurons)
        self._native.record(room, first, end)
        self._recorded = range(self.step, STEPS_MAX)

    @property
    def spikes(self) -> NDArray[Any]:
        """A copy of the recorded spikes, sorted by step and neuron: an array of :data:`SPIKE`, with the columns ``spikes["step"]``
        and ``spikes["neuron"]``. Shape: spikes.

        :raises kvrm.Error: nothing is recorded.
        """
        self._check_recorder()
        return array(*self._native.spikes(False))

    def take_spikes(self) -> NDArray[Any]:
        """Returns the recorded spikes as :attr:`spikes` does, and empties the recorder, which records on."""
        self._check_recorder()
        spikes = array(*self._native.spikes(True))
        self._recorded = range(self.step, STEPS_MAX)
        return spikes

    @property
    def lost_spikes(self) -> int:
        """The number of spikes for which the recorder had no room. They are those after the recorded ones; there is no gap before."""
        return self._native.lost

    def rates(self, steps: int | None = None) -> NDArray[np.float64]:
        """Returns the mean rate of each population, in spikes a second, from the recorded spikes. Shape: populations.

        :param steps: the last steps that count; by default all since the recorder was empty.
        """
        started = self._check_recorder().start
        count = max(self.step - started, 0) if steps is None else operator.index(steps)
        return self._native.rates(count)

    def _check_recorder(self) -> range:
        """Returns the steps that are recorded."""
        if self._recorded is None:
            raise Error("no spikes are recorded: call record() before the run")
        return self._recorded

    def inject(self, neurons: Neurons, amounts: ArrayLike) -> None:
        """Injects amounts into neurons in the next step. Several injections into a neuron are added.

        :param amounts: in FEAGI's units or mV: one for all neurons, or an array with one for each. For a FEAGI neuron even 0 is an
            input.
        :raises kvrm.Error: there is no such neuron, or its injections exceed the limit of the network.
        """
        self.inject_at(self.step, neurons, amounts)

    def inject_at(self, steps: ArrayLike, neurons: Neurons, amounts: ArrayLike) -> None:
        """Injects amounts into neurons in later steps.

        :param steps: the steps, counted from the initial state of the network: one for all neurons, or an array with one for each.
        :param neurons: the neurons. A neuron can occur in several steps.
        :param amounts: in FEAGI's units or mV: one for all, or an array with one for each.
        :raises kvrm.Error: there is no such neuron, its injections exceed the limit of the network, or a step is over. Nothing is
            injected then, unless only together with pending injections the limit is exceeded.
        """
        times = np.asarray(steps)
        if times.size and times.dtype.kind not in "iu":
            raise TypeError(f"steps of type {times.dtype}: expected integers")
        if times.size and times.dtype.kind == "i" and times.min() < 0:
            raise ValueError(f"step {times.min()}: expected 0 or more")
        which = numbers(self.network, neurons)
        first, second, third = np.broadcast_arrays(times, which, np.asarray(amounts, np.float64))
        self._native.inject(
            np.ascontiguousarray(first, np.uint64).reshape(-1),
            np.ascontiguousarray(second, np.int64).reshape(-1),
            np.ascontiguousarray(third, np.float64).reshape(-1),
        )

    def set_drive(self, population: str | int | Population, amount: float) -> None:
        """Sets the drive of a population: the input of each of its neurons in every step; 0 is no input.

        :raises kvrm.Error: there is no such population, or the magnitude exceeds the injection limit.
        """
        if isinstance(population, str):
            population = self.network.population(population)
        number = population.number if isinstance(population, Population) else operator.index(population)
        count = len(self.network.populations)
        if not 0 <= number < count:
            raise Error(f"there is no population {number}: there are {count}, numbered from 0")
        self._native.set_drive(number, amount)

    def sample(self, neurons: Neurons = None) -> NDArray[Any]:
        """Runs one step, and returns those neurons that fire, with their places and membrane potentials.

        :param neurons: consecutive neurons; by default all.
        :returns: an array of :data:`SAMPLE`, in the order of neurons. Shape: neurons that fire.
        :raises kvrm.RecordingOverflow: after the step, if the recorder had too little room.
        """
        step, which, populations, places, potentials = self._native.sample(*span(self.network, neurons))
        sample = np.empty(len(which), SAMPLE)
        sample["step"] = step
        sample["neuron"] = which
        sample["population"] = populations
        for axis, name in enumerate("xyz"):
            sample[name] = places.reshape(-1, 3)[:, axis]
        sample["potential"] = potentials
        return sample

    def potentials(self) -> NDArray[np.float64]:
        """Returns the membrane potentials after the last step: in FEAGI's units, in mV above the resting potential for LIF neurons, in
        mV for Izhikevich neurons, and NaN for Poisson sources. Shape: neurons."""
        return self._native.potentials()

    def synapses(self, sources: Neurons = None) -> Synapses:
        """Returns the synapses that leave some neurons, or all, with the weights that they have now.

        :param sources: consecutive neurons.
        """
        return Synapses(*self._native.synapses(*span(self.network, sources)))

    def state(self) -> State:
        """Returns the state after the last step."""
        return from_fields(self._native.state())

    def set_state(self, state: State) -> None:
        """Continues from another state, which may come from another engine. Injections for steps before it are dropped. Recorded spikes
        stay, so take them before.

        :raises kvrm.Error: the state does not match the network.
        """
        self._native.set_state(state.fields())
        if self._recorded is not None:
            self._recorded = range(state.step, STEPS_MAX)

    def change(self, changes_of_network: Iterable[Change] | Change) -> None:
        """Changes the network between two steps. Its state stays.

        :param changes_of_network: a change, or several, which are made together.
        :raises kvrm.Error: a change is impossible, or the inputs of a neuron could overflow, and nothing has changed.
        """
        if isinstance(changes_of_network, Iterable):
            each = list(changes_of_network)
        else:
            each = [changes_of_network]
        self._native.change([changes.options(change) for change in each])
        self._network = None

    def __repr__(self) -> str:
        return f"Simulation({self.network!r}, engine={self.engine.name}, step={self.step})"
