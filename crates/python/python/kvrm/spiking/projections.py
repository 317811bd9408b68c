"""Which neurons are connected, with which weights and delays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import SupportsFloat, Union


@dataclass(frozen=True)
class OneToOne:
    """Connects each neuron to the one with the same index; the populations have the same size."""


@dataclass(frozen=True)
class AllToAll:
    """Connects each neuron to all neurons."""


@dataclass(frozen=True)
class Probability:
    """Connects each pair with a probability."""

    probability: float


@dataclass(frozen=True)
class InDegree:
    """Connects each target to this many random sources."""

    degree: int


@dataclass(frozen=True)
class OutDegree:
    """Connects each source to this many random targets."""

    degree: int


@dataclass(frozen=True)
class Total:
    """Makes a fixed number of synapses, each with a random source and a random target."""

    synapses: int


@dataclass(frozen=True)
class Offsets:
    """Connects each source of a grid to the targets at these offsets (x, y, z) from its coordinates, where the grid of the targets
    has such coordinates. These are FEAGI's morphologies."""

    offsets: Sequence[tuple[int, int, int]]


ConnectionRule = Union[OneToOne, AllToAll, Probability, InDegree, OutDegree, Total, Offsets]
"""Which neurons of two populations are connected."""


@dataclass(frozen=True)
class Normal:
    """A normal distribution of weights, or of delays in ms.

    Values out of range are drawn again: weights whose sign is not that of the mean, or that are more than 6.5 standard deviations
    from it; delays of less than half a step, or longer than ``max``. Delays are rounded to steps.

    :param mean: the mean before values are drawn again.
    :param std: the standard deviation before that.
    :param max: the longest delay. Delays need it; weights do not have it.
    """

    mean: float
    std: float
    max: float | None = None


@dataclass(frozen=True)
class Uniform:
    """A uniform distribution of weights, or of delays in ms, which are rounded to steps.

    :param low: the lowest value.
    :param high: the highest value.
    """

    low: float
    high: float


@dataclass(frozen=True)
class Steps:
    """A delay of a number of steps, at least 1."""

    steps: int


Weight = Union[float, Normal, Uniform]
"""The weights of a projection, in FEAGI's units or mV: a number for all synapses, or a distribution."""

Delay = Union[float, Steps, Normal, Uniform]
"""The delays of a projection: a number of ms, which is rounded to steps, a number of steps, or a distribution in ms."""

_RULES = {
    OneToOne: "one-to-one",
    AllToAll: "all-to-all",
    Probability: "probability",
    InDegree: "in-degree",
    OutDegree: "out-degree",
    Total: "total",
    Offsets: "offsets",
}


def rule_options(rule: ConnectionRule) -> tuple[str, dict[str, object]]:
    """Returns the name of a rule and its parameters."""
    name = _RULES.get(type(rule))
    if name is None:
        names = ", ".join(kind.__name__ for kind in _RULES)
        raise TypeError(f"connection rule {rule!r}: expected one of {names}")
    return name, dict(vars(rule))


def weight_options(weight: Weight) -> tuple[str, dict[str, object]]:
    """Returns the name of a distribution of weights and its parameters."""
    if isinstance(weight, Normal):
        if weight.max is not None:
            raise TypeError(f"weight {weight!r}: max is only for delays")
        return "normal", dict(vars(weight))
    return _number_or_uniform("weight", weight)


def delay_options(delay: Delay) -> tuple[str, dict[str, object]]:
    """Returns the name of a distribution of delays and its parameters."""
    if isinstance(delay, Steps):
        return "steps", dict(vars(delay))
    if isinstance(delay, Normal):
        if delay.max is None:
            raise TypeError(f"delay {delay!r}: expected a longest delay, max")
        return "normal", dict(vars(delay))
    return _number_or_uniform("delay", delay)


def _number_or_uniform(what: str, value: SupportsFloat | Uniform) -> tuple[str, dict[str, object]]:
    if isinstance(value, Uniform):
        return "uniform", dict(vars(value))
    if isinstance(value, str) or not isinstance(value, SupportsFloat):
        raise TypeError(f"{what} {value!r}: expected a number or a distribution")
    return "constant", {"value": float(value)}
