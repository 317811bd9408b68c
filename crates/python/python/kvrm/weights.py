"""The weights of networks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _native

Architecture = Literal[
    "dispatch",
    "small-dispatch",
    "decoder",
    "loop-detector",
    "memory-oracle",
    "pattern-recogniser",
    "iteration-predictor",
]
"""The name of a network, which decides the names and the shapes of its tensors."""


class Weights:
    """The weights of a network. They can be pickled.

    Make them with :meth:`from_flat`, :meth:`from_tensors`, :meth:`load` or :meth:`builtin`.

    >>> import kvrm
    >>> weights = kvrm.Weights.builtin("dispatch")
    >>> weights.values.shape, weights.tensors["fc1.weight"].shape
    ((10279,), (32, 44))
    """

    def __init__(self, native: _native.Weights) -> None:
        self.native = native

    @staticmethod
    def from_flat(architecture: Architecture, values: ArrayLike) -> Weights:
        """Makes weights of all tensors of a network, one after the other.

        :param values: as many numbers as the network has parameters. Shape: parameters. They are rounded to 32 bits.
        :raises TypeError: the values are no numbers.
        :raises ValueError: the values have not one dimension.
        :raises kvrm.Error: there is no such network, the number of values is wrong, or a value is not finite.
        """
        array = _floats(values)
        if array.ndim != 1:
            raise ValueError(f"values of shape {array.shape}: expected one dimension, the flat form")
        return Weights(_native.Weights.from_flat(architecture, array))

    @staticmethod
    def from_tensors(tensors: Mapping[str, ArrayLike], architecture: Architecture | None = None) -> Weights:
        """Makes weights of named tensors, as in the state dict of a PyTorch module.

        :param tensors: an array for each tensor of the network, in its shape.
        :param architecture: by default it is the network that has these tensors.
        :raises TypeError: the values are no numbers.
        :raises kvrm.Error: a tensor is missing, is not of this network, or has another shape; a value is not finite.
        """
        arrays = {name: _floats(values) for name, values in tensors.items()}
        rows = [(name, array.shape, array.reshape(-1)) for name, array in arrays.items()]
        return Weights(_native.Weights.from_tensors(architecture, rows))

    @staticmethod
    def load(
        path: str | os.PathLike[str],
        architecture: Architecture | None = None,
        names: Mapping[str, str] | None = None,
    ) -> Weights:
        """Reads a file of safetensors, NumPy (``.npz``, ``.npy``) or PyTorch (``.pt``, ``.pth``); its first bytes say which it is. No
        code in it is executed.

        :param architecture: by default it is the network that has the tensors of the file.
        :param names: new names for tensors of the file, by their old ones.
        :raises kvrm.Error: the file cannot be read, or has other tensors than a network.
        """
        return Weights(_native.Weights.load(path, architecture, list((names or {}).items())))

    @staticmethod
    def builtin(architecture: Architecture) -> Weights:
        """Returns the weights that come with KVRM.

        :raises kvrm.Error: there is no such network, or no weights of it come with KVRM.
        """
        return Weights(_native.Weights.builtin(architecture))

    def save(
        self, path: str | os.PathLike[str], dtype: Literal["float32", "float16"] = "float32", flat: bool = False
    ) -> None:
        """Writes a file in ``.safetensors``, ``.npz`` or ``.npy``, completely or not at all.

        :param dtype: the type of the values. Values that a half-precision number does not have are rounded.
        :param flat: whether all values are one tensor, in the flat form.
        :raises kvrm.Error: the file cannot be written, a value is too large, or several tensors should go into ``.npy``.
        """
        self.native.save(path, dtype, flat)

    @property
    def architecture(self) -> str:
        """The name of the network."""
        return self.native.architecture

    @property
    def values(self) -> NDArray[np.float32]:
        """A copy of all values in the flat form. Shape: parameters."""
        return self.native.values()

    @property
    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """A copy of the tensors, in the order of the flat form."""
        tensors, values, start = {}, self.values, 0
        for name, shape in self.native.shapes():
            end = start + int(np.prod(shape, dtype=np.int64))
            tensors[name] = values[start:end].reshape(shape)
            start = end
        return tensors

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (Weights.from_flat, (self.architecture, self.values))

    def __repr__(self) -> str:
        return f"Weights({self.architecture!r})"


def _floats(values: ArrayLike) -> NDArray[np.float32]:
    """Returns numbers as an array of 32 bits. Those that are too large become infinite."""
    array: NDArray[Any] = np.asarray(values)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"values of type {array.dtype}: expected numbers")
    with np.errstate(over="ignore"):
        # Unlike ascontiguousarray, this keeps an array without dimensions.
        return np.asarray(array, np.float32, order="C")
