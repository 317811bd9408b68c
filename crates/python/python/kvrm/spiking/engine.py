"""The engines that run networks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Union

from .. import _native
from .network import Network

EngineName = Literal["auto", "gpu", "parallel", "reference"]
"""``parallel`` is all cores of the CPU, ``reference`` one. ``auto`` takes a GPU if there is one and it is faster for networks of the
size, as measured once on this machine; else all cores."""


class EngineChoice(NamedTuple):
    """The engine that runs a network."""

    name: str
    """``gpu``, ``parallel`` or ``reference``."""
    device: str | None
    """The GPU; ``None`` on the CPU."""
    threads: int | None
    """The number of threads on the CPU; ``None`` on a GPU."""
    fallback: str | None
    """Why ``auto`` took the CPU; ``None`` if it did not."""


@dataclass(frozen=True)
class Engine:
    """An engine. States and spikes are the same on all of them, bit by bit.

    A name stands for an engine: ``Simulation(network, engine="parallel")``.

    :param name: ``auto``, ``gpu``, ``parallel`` or ``reference``.
    :param adapter: the GPU: a part of its name, or its index in :func:`kvrm.adapters`.
    """

    name: EngineName = "auto"
    adapter: str | None = None

    def open(self) -> OpenEngine:
        """Opens the device. The first time on a machine, ``auto`` measures GPU and CPU, which takes a second.

        :raises kvrm.Error: there is no such engine, or it has no adapters.
        :raises kvrm.EngineError: there is no such GPU, or it cannot be opened.
        """
        return OpenEngine(self, _native.SpikingEngine(self.name, self.adapter))


@dataclass(frozen=True)
class OpenEngine:
    """An engine that is ready to run networks. Several simulations may share it."""

    options: Engine
    native: _native.SpikingEngine = field(repr=False)

    def choose(self, network: Network) -> EngineChoice:
        """Chooses between GPU and CPU for a network."""
        return EngineChoice(*self.native.choose(network.native))

    def __reduce__(self) -> tuple[object, tuple[Engine]]:
        return (Engine.open, (self.options,))


AnyEngine = Union[Engine, OpenEngine, EngineName]


def open_engine(engine: AnyEngine, adapter: str | None = None) -> OpenEngine:
    """Opens an engine, which may be given by its name."""
    if isinstance(engine, (Engine, OpenEngine)):
        if adapter is not None:
            raise TypeError("adapter: name it in kvrm.spiking.Engine, or give the name of the engine")
        return engine if isinstance(engine, OpenEngine) else engine.open()
    return Engine(engine, adapter).open()
