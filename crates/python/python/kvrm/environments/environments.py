"""Programs that take steps for agents, in many lanes at once."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _native
from ..engine import AnyEngine, open_engine
from ..machine import Lanes, machine_options, numbers_of
from ..program import Program
from ..stops import Stops
from .batch import Batch
from .doom import Doom

Format = Literal["rgb", "grey", "index"]
"""The pixels of observations: red, green and blue; grey; or indices of the palette."""

VariableType = Literal["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"]


class Component(NamedTuple):
    """A component of actions."""

    name: str
    low: int
    """The least value."""
    high: int
    """The greatest value."""


class Environments:
    """A program in many lanes, each of which takes steps for an agent.

    A lane whose episode has ended begins another one with its next step: the action is ignored, the reward is 0, and the
    observation is the first of the new episode. Results depend on the program, the seed, the number of the lane and its actions
    only; neither on the engine nor on the other lanes.

    :param program: a program with the interface of ``docs/environments.md``, or a :class:`Doom`.
    :param lanes: the number of lanes.
    :param engine: the engine that steps them. The program is started on the CPU, and then forked.
    :param components: which components actions have, and their order. By default all that the program has.
    :param ticks: how many units of its time the program advances in a step: the frame skip.
    :param format: the pixels of observations; ``None`` for steps without observations, in which the program does not draw.
    :param crop: the columns and rows of the frame that are observed: ``((left, right), (top, bottom))``.
    :param downscale: a square of 2^downscale pixels becomes one.
    :param variables: the variables of the program that are read after each step: for each name its type and the symbol or the
        address, such as ``{"health": ("int32", "doom_health")}``. DOOM's need only a list of names.
    :param seed: the seed from which the seeds of episodes follow.
    :param scenario: the task of episodes, as the program defines it.
    :param episode_steps: the number of steps after which an episode is truncated.
    :param budget: the largest number of instructions of a step; a lane that takes more is truncated. The default is 10^9.
    :param endless: whether lanes go on after an episode has ended, as the program decides.
    :param frames: the number of pages of 4096 bytes that each lane may write.
    :param start: options of the machine that starts the program, as those of :class:`kvrm.Machine`, such as ``arguments``.
    :raises kvrm.Error: the program is no environment, or an option is not possible.
    """

    def __init__(
        self,
        program: Program | Doom,
        *,
        lanes: int = 1,
        engine: AnyEngine = "auto",
        components: Sequence[str] | None = None,
        ticks: int = 1,
        format: Format | None = "rgb",
        crop: tuple[tuple[int, int], tuple[int, int]] | None = None,
        downscale: int = 0,
        variables: Mapping[str, tuple[VariableType, str | int]] | Sequence[str] = (),
        seed: int = 0,
        scenario: int = 0,
        episode_steps: int | None = None,
        budget: int | None = None,
        endless: bool = False,
        frames: int | None = None,
        **start: Any,
    ) -> None:
        if not isinstance(variables, Mapping):
            if variables and not isinstance(program, Doom):
                raise TypeError("variables: expected the type and the place of each, unless the program is DOOM")
            variables = {name: Doom.variable(name) for name in variables}
        options: dict[str, object] = {
            "lanes": lanes,
            "components": None if components is None else list(components),
            "ticks": ticks,
            "format": format,
            "crop": crop,
            "downscale": downscale,
            "variables": [(place, kind) for kind, place in variables.values()],
            "seed": seed,
            "scenario": scenario,
            "episode_steps": episode_steps,
            "budget": budget,
            "is_endless": endless,
            "frames": frames,
        }
        self.engine = open_engine(engine)
        """The engine that steps the lanes."""
        if isinstance(program, Doom):
            if start:
                raise TypeError(f"DOOM has no options {', '.join(start)}")
            opened, game = program.open()
            self._native = _native.Environments.doom(opened.native, self.engine.native, game, options)
        else:
            machine = machine_options(lanes=1, **start)
            self._native = _native.Environments(program.native, self.engine.native, machine, options)
        self.lanes: int = self._native.lanes
        """The number of lanes."""
        self.components = [Component(*component) for component in self._native.components]
        """The components of actions, in their order."""
        self.shape: tuple[int, int, int] = self._native.shape
        """Rows, columns and channels of an observation; zeros if there are none."""
        self._names = list(variables)
        # Results of a step may be used while the next one is taken.
        self._rooms = [np.zeros(self.lanes * int(np.prod(self.shape)), np.uint8) for _ in range(2)]

    def reset(
        self, lanes: Lanes = None, seeds: ArrayLike | None = None, scenarios: ArrayLike | None = None
    ) -> Batch:
        """Begins an episode in some lanes, or in all.

        :param seeds: a seed for each of them. By default they follow from the seed of the environments.
        :param scenarios: a scenario for each of them.
        :raises kvrm.Error: a lane takes a step, or there is not one seed for each lane.
        """
        numbers = numbers_of(lanes, self.lanes)
        room = self._room()
        results = self._native.reset(
            numbers,
            None if seeds is None else np.ascontiguousarray(seeds, np.uint64),
            None if scenarios is None else np.ascontiguousarray(scenarios, np.uint32),
            room,
        )
        return self._batch(results, room)

    def step(self, actions: ArrayLike) -> Batch:
        """Takes a step in each lane.

        :param actions: integers of shape (lanes, components).
        :raises kvrm.Error: there are not as many numbers, or one is out of its range. No lane takes a step then.
        """
        room = self._room()
        return self._batch(self._native.step(self._actions(actions), room), room)

    def send(self, actions: ArrayLike, lanes: Lanes = None) -> None:
        """Gives some lanes actions, with which they begin to take a step. :meth:`receive` runs them."""
        self._native.send(numbers_of(lanes, self.lanes), self._actions(actions))

    def receive(self, wanted: int) -> Batch:
        """Runs lanes that take a step until at least ``wanted`` of them have done it. Returns the results of all that have."""
        room = self._room()
        return self._batch(self._native.receive(operator.index(wanted), room), room)

    def set_ticks(self, ticks: int) -> None:
        """Changes how many units of its time the program advances in a step."""
        self._native.set_ticks(ticks)

    def _actions(self, actions: ArrayLike) -> NDArray[np.int32]:
        """Returns actions as a flat array."""
        array = np.asarray(actions)
        if array.dtype.kind not in "iub":
            raise TypeError(f"actions of type {array.dtype}: expected integers")
        return np.ascontiguousarray(array, np.int32).reshape(-1)

    def _room(self) -> NDArray[np.uint8]:
        """Returns the memory for the observations of a step."""
        self._rooms.reverse()
        return self._rooms[0]

    def _batch(self, results: dict[str, NDArray[Any]], room: NDArray[np.uint8]) -> Batch:
        lanes = results["lanes"]
        count = len(lanes)
        observations = room[: count * int(np.prod(self.shape))].reshape(count, *self.shape)
        variables = results["variables"].reshape(count, -1)
        return Batch(
            lanes=lanes,
            observations=observations,
            rewards=results["rewards"],
            terminations=results["terminations"],
            truncations=results["truncations"],
            variables={name: variables[:, index] for index, name in enumerate(self._names)},
            masks=results["masks"].reshape(count, -1),
            instructions=results["instructions"],
            stops=Stops(results["stop_kinds"], results["stop_values"], results["stop_details"]),
        )

    def __repr__(self) -> str:
        return f"Environments(lanes={self.lanes}, shape={self.shape}, engine={self.engine.name})"
