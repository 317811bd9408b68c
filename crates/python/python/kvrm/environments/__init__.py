"""Environments for reinforcement learning: programs that take steps for agents, in many lanes at once.

Any program with the interface of ``docs/environments.md`` is an environment. :class:`Environments` steps its lanes;
:class:`VectorEnv` is the same for Gymnasium, and importing this module registers ``kvrm/Program-v0`` and ``kvrm/Doom-v0``:

>>> import gymnasium
>>> import kvrm.environments
>>> environment = gymnasium.make_vec("kvrm/Doom-v0", num_envs=64)  # doctest: +SKIP
"""

from .batch import Batch
from .doom import DOOM_VARIABLES, Doom
from .environments import Component, Environments, VariableType

__all__ = ["DOOM_VARIABLES", "Batch", "Component", "Doom", "Environments", "VariableType"]

try:
    from .vector import VectorEnv, register

    register()
    __all__ += ["VectorEnv"]
except ModuleNotFoundError as error:
    # Without Gymnasium, everything else works.
    if error.name != "gymnasium":
        raise
