"""The networks inside the machine: their weights, and proofs about them.

Where they are used is an option of :class:`kvrm.Engine`: ``class_selection`` says when the dispatch network names the class of an
instruction, ``loops="networks"`` lets three networks propose loops to the exact checker. ``report.decisions`` and ``report.loops`` count
what they said.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .weights import Architecture, Weights

__all__ = ["Architecture", "Certificate", "Weights", "convert", "verify"]


@dataclass(frozen=True)
class Certificate:
    """What is proved about a network. ``print(certificate)`` shows the numbers of each part of the proof, and the failures."""

    holds: bool
    """Whether the network gives the right answer for each of the 2^32 words, with the same bits on every device."""
    sha256: str
    """The SHA-256 of the weights that were proved."""
    details: dict[str, Any]
    """The numbers of each part of the proof, and the failures."""
    text: str

    def __str__(self) -> str:
        return self.text


def verify(weights: Weights, progress: Callable[[float], object] | None = None) -> Certificate:
    """Proves that a network gives the right answer for every word, or finds where it does not. It takes up to a minute.

    :param weights: those of the network ``dispatch`` or ``decoder``.
    :param progress: a function that is called with the part of the words that were swept, from 0 to 1, in several threads.
    :raises kvrm.Error: there is no proof about such a network.
    """
    observe = None
    if progress is not None:

        def observe(swept: int) -> None:
            progress(swept / 256)

    certificate, text, holds = weights.native.certify(observe)
    details = json.loads(certificate)
    return Certificate(holds, details["sha256"], details, text)


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    architecture: Architecture | None = None,
    names: Mapping[str, str] | None = None,
    dtype: Literal["float32", "float16"] = "float32",
    flat: bool = False,
) -> Weights:
    """Converts a file of weights to another format, and returns the weights. :meth:`Weights.load` and :meth:`Weights.save` have the
    options."""
    weights = Weights.load(source, architecture, names)
    weights.save(target, dtype, flat)
    return weights
