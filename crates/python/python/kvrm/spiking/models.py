"""The models of neurons, with their parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Union

ModelName = Literal["feagi", "lif", "izhikevich", "poisson"]
"""The name of a model."""


@dataclass(frozen=True)
class Feagi:
    """The neuron of FEAGI. Potentials are in FEAGI's units.

    :param threshold: the firing threshold, inclusive.
    :param threshold_limit: the potential above which the neuron does not fire. ``None`` is no limit.
    :param leak: the fraction of the potential, 0 to 1, that leaks in a step with input and without a spike.
    :param refractory: the number of steps with input that are ignored after a spike.
    :param excitability: the probability of firing if all other conditions are met; 0.999 and more count as 1.
    :param consecutive_limit: the number of consecutive spikes after which the neuron pauses; 0 and 65,535 are no limit.
    :param snooze: the steps that are added to ``refractory`` after the last of these spikes.
    :param charge_accumulation: whether the potential persists from step to step.
    :param psp: the postsynaptic potential, 0 to 255: the factor of the weights.
    :param mp_driven_psp: whether the postsynaptic potential is the potential at firing, rounded and at most 255, instead of ``psp``.
    :param psp_uniform: whether each target gets the full postsynaptic potential. Otherwise it is divided by the fan-out.
    :param tick_always: whether the refractory countdown runs in every step, and not only in steps with input.
    :param drive: input in every step.
    """

    threshold: float = 1.0
    threshold_limit: float | None = None
    leak: float = 0.1
    refractory: int = 0
    excitability: float = 1.0
    consecutive_limit: int = 0
    snooze: int = 0
    charge_accumulation: bool = True
    psp: int = 1
    mp_driven_psp: bool = False
    psp_uniform: bool = True
    tick_always: bool = False
    drive: float = 0.0


@dataclass(frozen=True)
class Lif:
    """Leaky integrate-and-fire with exponential synaptic currents. Times are in ms, potentials in mV. The defaults are the neuron of
    Potjans and Diesmann (2014).

    :param tau_m: the time constant of the membrane.
    :param tau_ex: the time constant of excitatory synaptic currents.
    :param tau_in: the time constant of inhibitory synaptic currents.
    :param v_rest: the resting potential.
    :param v_th: the firing threshold, inclusive.
    :param v_reset: the reset potential.
    :param t_ref: the refractory period, during which the potential stays at ``v_reset``.
    :param bias: a constant current, expressed as the shift of the potential that it causes.
    :param poisson_rate: the rate of the Poisson input, in spikes a second, all inputs together.
    :param poisson_weight: the jump of the current by one event of the Poisson input, in mV.
    :param drive: input in every step, in mV of the current; excitatory if it is positive.
    """

    tau_m: float = 10.0
    tau_ex: float = 0.5
    tau_in: float = 0.5
    v_rest: float = -65.0
    v_th: float = -50.0
    v_reset: float = -65.0
    t_ref: float = 2.0
    bias: float = 0.0
    poisson_rate: float = 0.0
    poisson_weight: float = 0.0
    drive: float = 0.0


@dataclass(frozen=True)
class Izhikevich:
    """Izhikevich's neuron (2003). The defaults are a regular spiking cell.

    :param a: the rate of the recovery variable u, in 1/ms.
    :param b: the sensitivity of u to the potential v.
    :param c: the reset potential: v after a spike, in mV.
    :param d: the increase of u by a spike.
    :param peak: the potential at which the neuron fires, in mV.
    :param bias: a constant current.
    :param poisson_rate: the rate of the Poisson input, in spikes a second, all inputs together.
    :param poisson_weight: the current of one Poisson event, in its step.
    :param drive: a constant current that can be changed while the network runs.
    """

    a: float = 0.02
    b: float = 0.2
    c: float = -65.0
    d: float = 8.0
    peak: float = 30.0
    bias: float = 0.0
    poisson_rate: float = 0.0
    poisson_weight: float = 0.0
    drive: float = 0.0


@dataclass(frozen=True)
class Poisson:
    """A Poisson spike source, which ignores its input.

    :param rate: the rate, in spikes a second. A source fires at most once in a step.
    """

    rate: float


Model = Union[Feagi, Lif, Izhikevich, Poisson]
"""The model of a neuron with its parameters."""

_NAMES: dict[type, ModelName] = {Feagi: "feagi", Lif: "lif", Izhikevich: "izhikevich", Poisson: "poisson"}


def options(model: Model) -> tuple[str, dict[str, object]]:
    """Returns the name of a model and its parameters."""
    name = _NAMES.get(type(model))
    if name is None:
        raise TypeError(f"model {model!r}: expected Feagi, Lif, Izhikevich or Poisson")
    return name, dict(vars(model))
