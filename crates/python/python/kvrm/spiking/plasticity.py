"""Rules by which weights learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Window:
    """FEAGI's rule. In every step, a synapse gains ``ltp`` if both neurons have fired in each of the last ``steps`` steps. It loses
    ``ltd`` if either neuron has fired in any of these steps, and otherwise keeps its weight.

    :param steps: the number of steps, 1 to 32.
    :param ltp: the amount of potentiation, in the unit of weights.
    :param ltd: the amount of depression, in the unit of weights.
    """

    steps: int
    ltp: float
    ltd: float


@dataclass(frozen=True)
class Pair:
    """Spike-timing-dependent plasticity (STDP) with nearest-neighbour pairing and exponential decay: each spike is paired with the
    nearest earlier spike of the other neuron, up to 63 steps apart. Delays are not taken into account.

    :param potentiation: the amount that a postsynaptic spike after a presynaptic one adds, in the unit of weights, for no distance.
    :param depression: the amount that a presynaptic spike after a postsynaptic one subtracts, likewise.
    :param tau_plus: the time constant of potentiation, in ms.
    :param tau_minus: the time constant of depression, in ms.
    """

    potentiation: float
    depression: float
    tau_plus: float
    tau_minus: float


@dataclass(frozen=True)
class PairTable:
    """The rule :class:`Pair` with any dependence on the distance of spikes.

    :param potentiation: 64 amounts by distance in steps, none negative, of which the first is unused.
    :param depression: likewise.
    """

    potentiation: Sequence[float]
    depression: Sequence[float]


PlasticityRule = Union[Window, Pair, PairTable]
"""How spikes change the weight of a synapse."""

_NAMES = {Window: "window", Pair: "pair", PairTable: "pair-table"}


def options(rule: PlasticityRule) -> tuple[str, dict[str, object]]:
    """Returns the name of a rule and its parameters."""
    name = _NAMES.get(type(rule))
    if name is None:
        raise TypeError(f"plasticity rule {rule!r}: expected Window, Pair or PairTable")
    return name, dict(vars(rule))
