"""Environments for Gymnasium."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ..program import Program
from .batch import Batch
from .doom import Doom
from .environments import Environments

Observations = NDArray[np.uint8]
Actions = NDArray[np.int64]


class VectorEnv(gymnasium.vector.VectorEnv[Observations, Actions, NDArray[Any]]):
    """Environments as a Gymnasium ``VectorEnv``, with ``AutoresetMode.NEXT_STEP``.

    Actions are of shape (lanes, components), in a ``MultiDiscrete`` space that begins at the least value of each component.
    Observations are of shape (lanes, rows, columns, channels). Infos have the variables by their names; ``action_mask``, for each
    component an array of shape (lanes, values); ``instructions``; and ``stops``, if a program has failed.

    :param environments: the lanes. They must not be stepped by anybody else.
    :param copy: whether each observation has memory of its own. Without, that of a step is used again by the step after the next.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}

    def __init__(self, environments: Environments, copy: bool = True) -> None:
        self.environments = environments
        self.num_envs = environments.lanes
        components = environments.components
        sizes = [component.high - component.low + 1 for component in components]
        self.single_action_space = spaces.MultiDiscrete(
            sizes, start=[component.low for component in components]
        )
        self.single_observation_space = spaces.Box(0, 255, environments.shape, np.uint8)
        self.action_space = spaces.MultiDiscrete(
            np.tile(sizes, (self.num_envs, 1)),
            start=np.tile([component.low for component in components], (self.num_envs, 1)),
        )
        self.observation_space = spaces.Box(0, 255, (self.num_envs, *environments.shape), np.uint8)
        self._copy = copy

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode in all lanes, or in those of the mask ``options["reset_mask"]``.

        :param seed: the seed of the first lane's episode, from which those of the others count up; or one for each lane. By default
            they follow from the seed of the environments.
        """
        mask = None if options is None else options.get("reset_mask")
        lanes = None if mask is None else np.flatnonzero(mask)
        seeds = None
        if seed is not None:
            each = range(seed, seed + self.num_envs) if isinstance(seed, int) else seed
            if any(value is None for value in each):
                raise ValueError("seed: expected a number for each lane")
            seeds = np.asarray(each, np.uint64)[slice(None) if lanes is None else lanes]
        batch = self.environments.reset(lanes, seeds)
        if lanes is None:
            return self._observations(batch), self._infos(batch)
        observations = np.zeros(self.observation_space.shape or (), np.uint8)
        observations[lanes] = batch.observations
        return observations, {}

    def step(
        self, actions: Actions
    ) -> tuple[Observations, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Takes a step in each lane."""
        batch = self.environments.step(actions)
        ends = batch.terminations, batch.truncations
        return self._observations(batch), batch.rewards, *ends, self._infos(batch)

    def _observations(self, batch: Batch) -> Observations:
        return batch.observations.copy() if self._copy else batch.observations

    def _infos(self, batch: Batch) -> dict[str, Any]:
        infos: dict[str, Any] = dict(batch.variables)
        infos["instructions"] = batch.instructions
        infos["action_mask"] = {
            component.name: (batch.masks[:, index, None] >> np.arange(size, dtype=np.uint64) & np.uint64(1)).astype(bool)
            for index, component in enumerate(self.environments.components)
            if (size := component.high - component.low + 1) <= 64
        }
        if batch.stops.counts():
            infos["stops"] = batch.stops
        return infos


def make_program(num_envs: int = 1, *, program: str, copy: bool = True, **options: Any) -> VectorEnv:
    """Makes the environment ``kvrm/Program-v0``: the program of a file, with the options of :class:`Environments`."""
    return VectorEnv(Environments(Program.open(program), lanes=num_envs, **options), copy)


def make_doom(num_envs: int = 1, *, game: Doom | None = None, copy: bool = True, **options: Any) -> VectorEnv:
    """Makes the environment ``kvrm/Doom-v0``.

    By default a step is 4 tics, and an observation 160x100 grey pixels. Other options are those of :class:`Environments`.
    """
    defaults = {"ticks": 4, "format": "grey", "downscale": 1}
    return VectorEnv(Environments(game or Doom(), lanes=num_envs, **{**defaults, **options}), copy)


def register() -> None:
    """Registers the environments with Gymnasium."""
    for name, function in [("Program", "make_program"), ("Doom", "make_doom")]:
        identifier = f"kvrm/{name}-v0"
        if identifier not in gymnasium.registry:
            gymnasium.register(id=identifier, vector_entry_point=f"{__name__}:{function}")
