"""Networks from files, from descriptions, and from NIR graphs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _native
from ..errors import Error
from .network import Network

if TYPE_CHECKING:
    import nir


def open(path: str | os.PathLike[str], dt: float | None = None) -> Network:
    """Opens a network. The extension of the file selects the format: ``.toml`` is a description, ``.safetensors`` a saved network,
    and ``.nir``, ``.h5`` or ``.hdf5`` a NIR graph.

    :param dt: the length of a step of a NIR graph, in ms, as in the program that wrote it. By default it is 0.1.
    :raises kvrm.Error: the file cannot be read, or contains no valid network.
    """
    return Network(_native.SpikingNetwork.open(path, dt))


def describe(text: str) -> Network:
    """Builds the network that a text in TOML describes, in the format of ``docs/spiking.md``.

    >>> import kvrm.spiking
    >>> text = 'dt = 0.1\\n[[population]]\\nname = "cells"\\nneurons = 20\\nlif = { tau_m = 20.0 }'
    >>> kvrm.spiking.describe(text).neurons
    20

    :param text: the description. The names of its edge lists are absolute paths.
    :raises kvrm.Error: the text describes no valid network. The message has the line.
    """
    return _through_file("description.toml", lambda path: path.write_text(text, encoding="utf-8"))


def from_nir(graph: nir.NIRGraph, dt: float = 0.1) -> Network:
    """Builds the network of a graph of the package ``nir``.

    Nodes that fire become populations with the names of the nodes, and linear nodes between them become synapses. Inputs are
    populations whose neurons fire in the steps in which 1 is injected.

    :param dt: the length of a step, in ms, as in the program that made the graph.
    :raises kvrm.Error: a node is not supported. The message names it.
    """
    try:
        import nir
    except ImportError as error:
        raise ImportError("NIR graphs need the package nir: pip install kvrm[nir]") from error

    # The package writes HDF5 files only by their paths.
    return _through_file("graph.nir", lambda path: nir.write(path, graph), dt)


def _through_file(name: str, write: Callable[[Path], object], dt: float | None = None) -> Network:
    """Opens a file that a function writes. Errors have only its name."""
    with tempfile.TemporaryDirectory(prefix="kvrm-") as folder:
        path = Path(folder) / name
        write(path)
        try:
            return open(path, dt)
        except Error as error:
            raise type(error)(str(error).replace(str(path), name)) from None
