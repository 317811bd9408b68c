"""Changes of a network between two steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from . import models
from .models import Model
from .network import extents


@dataclass(frozen=True)
class AddSynapse:
    """Adds a synapse. There may be others between the same neurons.

    :param weight: in FEAGI's units or mV.
    :param delay: in ms.
    """

    source: int
    target: int
    weight: float
    delay: float


@dataclass(frozen=True)
class RemoveSynapse:
    """Removes the first synapse with this source, target and delay, in ms."""

    source: int
    target: int
    delay: float


@dataclass(frozen=True)
class SetWeight:
    """Replaces the weight of the first synapse with this source, target and delay, in ms."""

    source: int
    target: int
    weight: float
    delay: float


@dataclass(frozen=True)
class SetParameters:
    """Replaces the parameters of a neuron by others of the same model. Its state and the drive of its population stay."""

    neuron: int
    model: Model


@dataclass(frozen=True)
class AddPopulation:
    """Adds a population behind all others.

    :param neurons: their number, or the extents of a grid.
    """

    name: str
    neurons: int | tuple[int, int, int]
    model: Model


Change = Union[AddSynapse, RemoveSynapse, SetWeight, SetParameters, AddPopulation]
"""A change of a network. Neurons cannot be removed, because their numbers are their places."""

_NAMES = {
    AddSynapse: "add-synapse",
    RemoveSynapse: "remove-synapse",
    SetWeight: "set-weight",
    SetParameters: "set-parameters",
    AddPopulation: "add-population",
}


def options(change: Change) -> tuple[str, dict[str, object]]:
    """Returns the name of a change and its parameters."""
    name = _NAMES.get(type(change))
    if name is None:
        names = ", ".join(kind.__name__ for kind in _NAMES)
        raise TypeError(f"change {change!r}: expected one of {names}")
    fields: dict[str, object] = dict(vars(change))
    if isinstance(change, (SetParameters, AddPopulation)):
        fields["model"] = models.options(change.model)
    if isinstance(change, AddPopulation):
        fields.update(extents(change.neurons))
    return name, fields
