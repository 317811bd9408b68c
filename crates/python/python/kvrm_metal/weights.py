"""Weights of the networks, in flat form."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import kvrm
from kvrm.weights import Architecture


class UnusedWeightsWarning(UserWarning):
    """Weights were checked, but nothing uses them."""


class ModelWeights:
    """The weights of a network, with their shape.

    >>> ModelWeights([0.5] * 135, [135]).total_params()
    135

    :param weights: the values, one after the other. They are rounded to 32 bits.
    :param shape: their shape. A network takes them in flat form, so it is the number of its parameters.
    :raises TypeError: the values are no numbers, or the shape has no integers.
    :raises kvrm.Error: there are not as many values as the shape has.
    """

    def __init__(self, weights: ArrayLike, shape: Sequence[int]) -> None:
        array: NDArray[Any] = np.asarray(weights)
        if array.dtype.kind not in "fiub":
            raise TypeError(f"weights of type {array.dtype}: expected numbers")
        with np.errstate(over="ignore"):
            self._weights = array.reshape(-1).astype(np.float32)
        self._shape = [operator.index(size) for size in shape]
        if math.prod(self._shape) != len(self._weights) or min(self._shape, default=0) < 0:
            raise kvrm.Error(f"weights of shape {self._shape}: there are {len(self._weights)} values")

    @property
    def weights(self) -> NDArray[np.float32]:
        """The values. Shape: parameters."""
        return self._weights

    @property
    def shape(self) -> list[int]:
        """The shape."""
        return list(self._shape)

    def size(self) -> int:
        """Returns the number of values."""
        return len(self._weights)

    def total_params(self) -> int:
        """Returns the number of values, as computed from the shape."""
        return math.prod(self._shape)

    def __repr__(self) -> str:
        return f"ModelWeights(shape={self._shape})"


class Network(NamedTuple):
    """A network of the original."""

    name: str
    """What the original calls its weights."""
    architecture: Architecture


DISPATCH = Network("dispatch", "small-dispatch")
EMBEDDING = Network("embedding", "dispatch")
LOOP_DETECTOR = Network("loop detector", "loop-detector")
MEMORY_ORACLE = Network("memory oracle", "memory-oracle")
PATTERN_RECOGNIZER = Network("pattern recognizer", "pattern-recogniser")


class NeuralWeightCollection:
    """The weights of several networks. The ``load_`` methods of machines take a collection in place of the weights.

    Each ``set_`` method checks the weights:

    ============================== ==================== ==========
    method                         network of KVRM      parameters
    ============================== ==================== ==========
    set_dispatch_weights           small-dispatch       135
    set_embedding_weights          dispatch             10,279
    set_loop_detector_weights      loop-detector        1,083,397
    set_memory_oracle_weights      memory-oracle        271,124
    set_pattern_recognizer_weights pattern-recogniser   508,161
    ============================== ==================== ==========

    :raises kvrm.Error: the shape is not the number of parameters, or a value is not finite.
    """

    def __init__(self) -> None:
        self._weights: dict[Network, ModelWeights] = {}

    def set_dispatch_weights(self, weights: ModelWeights) -> None:
        """Sets the weights of the dispatch network without embedding. Shape: 135."""
        self._set(DISPATCH, weights)

    def set_embedding_weights(self, weights: ModelWeights) -> None:
        """Sets the weights of the dispatch network with an embedding of the top byte. Shape: 10,279."""
        self._set(EMBEDDING, weights)

    def set_loop_detector_weights(self, weights: ModelWeights) -> None:
        """Sets the weights of the loop detector. Shape: 1,083,397."""
        self._set(LOOP_DETECTOR, weights)

    def set_memory_oracle_weights(self, weights: ModelWeights) -> None:
        """Sets the weights of the memory oracle, which no run uses. Shape: 271,124."""
        self._set(MEMORY_ORACLE, weights)

    def set_pattern_recognizer_weights(self, weights: ModelWeights) -> None:
        """Sets the weights of the pattern recogniser. Shape: 508,161."""
        self._set(PATTERN_RECOGNIZER, weights)

    @property
    def dispatch_weights(self) -> ModelWeights | None:
        """What :meth:`set_dispatch_weights` has set."""
        return self.get(DISPATCH)

    @property
    def embedding_weights(self) -> ModelWeights | None:
        """What :meth:`set_embedding_weights` has set."""
        return self.get(EMBEDDING)

    @property
    def loop_detector_weights(self) -> ModelWeights | None:
        """What :meth:`set_loop_detector_weights` has set."""
        return self.get(LOOP_DETECTOR)

    @property
    def memory_oracle_weights(self) -> ModelWeights | None:
        """What :meth:`set_memory_oracle_weights` has set."""
        return self.get(MEMORY_ORACLE)

    @property
    def pattern_recognizer_weights(self) -> ModelWeights | None:
        """What :meth:`set_pattern_recognizer_weights` has set."""
        return self.get(PATTERN_RECOGNIZER)

    def is_complete(self) -> bool:
        """Whether it has the weights of dispatch network, loop detector and memory oracle."""
        return {DISPATCH, LOOP_DETECTOR, MEMORY_ORACLE} <= self._weights.keys()

    def total_params(self) -> int:
        """Returns the number of all parameters."""
        return sum(weights.total_params() for weights in self._weights.values())

    def get(self, network: Network) -> ModelWeights | None:
        """Returns the weights of a network."""
        return self._weights.get(network)

    def _set(self, network: Network, weights: ModelWeights) -> None:
        checked(network, weights)
        self._weights[network] = weights

    def __repr__(self) -> str:
        return f"NeuralWeightCollection({', '.join(network.name for network in self._weights)})"


AnyWeights = ArrayLike | ModelWeights | NeuralWeightCollection | kvrm.Weights
"""Values in flat form, or what has them."""


def checked(network: Network, weights: AnyWeights) -> kvrm.Weights:
    """Returns weights as those of a network.

    :raises kvrm.Error: they are not.
    """
    if isinstance(weights, NeuralWeightCollection):
        found = weights.get(network)
        if found is None:
            raise kvrm.Error(f"{network.name} weights: the collection has none")
        weights = found
    if isinstance(weights, kvrm.Weights):
        if weights.architecture != network.architecture:
            raise kvrm.Error(
                f"{network.name} weights: expected those of {network.architecture}, found those of {weights.architecture}"
            )
        return weights
    try:
        if isinstance(weights, ModelWeights):
            flat = kvrm.Weights.from_flat(network.architecture, weights.weights)
            if len(weights.shape) != 1:
                raise kvrm.Error(f"expected shape {[weights.size()]}, the flat form, found {weights.shape}")
            return flat
        return kvrm.Weights.from_flat(network.architecture, weights)
    except (kvrm.Error, TypeError, ValueError) as error:
        raise type(error)(f"{network.name} weights: {error}") from None
