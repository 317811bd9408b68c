"""The engines that run lanes, and the GPUs of this host."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from . import _native
from .weights import Weights

EngineName = Literal["auto", "gpu", "gpus", "jit", "reference"]
"""``auto`` takes a GPU if there is one, else the JIT. ``gpus`` divides the lanes among all GPUs of the host. ``jit`` and ``reference``
are the CPU."""

ClassSelection = Literal["table", "memo-domain", "memo-word", "network", "hybrid"]
"""When a network names the class of an instruction: never, once for all words, once for each word of code, in each step, or in
each step beside the table, which decides."""

Translation = Literal["off", "auto", "always"]
"""When a GPU translates hot code to shaders."""

Loops = Literal["off", "checker", "networks", "random", "adversarial"]
"""Who proposes the loops whose iterations the exact checker executes at once."""

Prefetch = Literal["none", "next", "stride", "best-offset", "markov", "oracle"]
"""Which pages come back to a GPU before a lane needs them: ``oracle`` is a network, the others follow rules."""

Gpus = int | str | Sequence[int | str]
"""A selection of GPUs: ``"all"``, their number, or a list of indices or names."""

AnyWeights = Weights | str | os.PathLike[str]
"""Weights, or the path of their file: safetensors, NumPy or PyTorch."""


@dataclass(frozen=True)
class Engine:
    """An engine and its options. Results are the same for all of them.

    A name stands for the engine with the default options: ``Machine(program, engine="jit")``.

    :param name: ``auto``, ``gpu``, ``gpus``, ``jit`` or ``reference``.
    :param adapter: the GPU, as ``kvrm doctor`` lists them: a part of its name, or its index. By default it is the one of the
        environment variable ``KVRM_ADAPTER``, or the best.
    :param gpus: the GPUs among which the lanes are divided: ``"all"``, their number, or a list of indices or names.
    :param class_selection: when a network names the class of an instruction. All but ``table`` need a GPU.
    :param weights: the weights of this network, ``dispatch`` or ``small-dispatch``. By default they are those of the dispatch
        network that come with KVRM.
    :param stop_on_misprediction: whether a lane stops if the network names a class without such an instruction.
    :param translate: when a GPU translates hot code.
    :param loops: whether many iterations of a loop are executed at once where that is proved to be right.
    :param loops_seed: the seed of the weights of ``loops="random"``.
    :param loop_weights: weights for ``loops="networks"``, of ``loop-detector``, ``pattern-recogniser`` or ``iteration-predictor``, in
        place of those that come with KVRM. They are rounded to half precision.
    :param device_memory: the bytes that a machine may take of each GPU. If the lanes need more, pages that they have not used for
        the longest time move to the host, and come back when they are needed. By default no page moves.
    :param host_memory: the bytes of the host for pages that have moved there, for each GPU. By default it is half of the memory that
        is available, but at most 32 times ``device_memory``.
    :param host_file: a file for pages that find no room in ``host_memory``, for each GPU. It must not exist, or a number is added to its
        name, and it is gone when the machine is. By default there is none.
    :param host_file_size: the largest size of this file in bytes. By default it is 32 times ``device_memory``.
    :param prefetch: which pages come back before a lane needs them. All but ``none`` need ``device_memory``. By default it is
        ``stride``.
    :param prefetch_degree: the largest number of pages that come for each access of which ``prefetch`` hears, from 1 to 16. By
        default it is 4.
    :param prefetch_weights: the weights of ``prefetch="oracle"``, of a ``memory-oracle``, in place of those that come with KVRM.
        They are rounded to half precision.
    """

    name: EngineName = "auto"
    adapter: str | None = None
    gpus: Gpus | None = None
    class_selection: ClassSelection = "table"
    weights: AnyWeights | None = None
    stop_on_misprediction: bool = False
    translate: Translation = "auto"
    loops: Loops = "off"
    loops_seed: int = 1
    loop_weights: Sequence[AnyWeights] = ()
    device_memory: int | None = None
    host_memory: int | None = None
    host_file: str | os.PathLike[str] | None = None
    host_file_size: int | None = None
    prefetch: Prefetch | None = None
    prefetch_degree: int | None = None
    prefetch_weights: AnyWeights | None = None

    def open(self) -> OpenEngine:
        """Opens the device.

        :raises kvrm.Error: an option has no such value, or needs a GPU or another option; weights are of another network, or are
            not used.
        :raises kvrm.EngineError: there is no such GPU, or it cannot be opened.
        """
        options = dict(vars(self))
        if self.weights is not None:
            options["weights"] = _native_weights(self.weights)
        if self.prefetch_weights is not None:
            options["prefetch_weights"] = _native_weights(self.prefetch_weights)
        if self.host_file is not None:
            options["host_file"] = os.fspath(self.host_file)
        if self.gpus is not None:
            options["gpus"] = _selection(self.gpus)
        options["loop_weights"] = [_native_weights(weights) for weights in self.loop_weights]
        return OpenEngine(self, _native.Engine(options))


def _selection(gpus: Gpus) -> str:
    """Returns a selection of GPUs as a text."""
    # With the comma, a single entry is not a number of GPUs.
    return str(gpus) if isinstance(gpus, (int, str)) else "".join(f"{gpu}," for gpu in gpus)


def selected_gpus(gpus: Gpus = "all") -> list[int]:
    """Returns the indices of a selection of GPUs in :func:`adapters`.

    :raises kvrm.EngineError: the host has no such GPUs. Software that runs shaders on the CPU counts only if it is listed.
    """
    return _native.selected_gpus(_selection(gpus))


def _native_weights(weights: AnyWeights) -> _native.Weights | str | os.PathLike[str]:
    """Returns what the native module takes for weights."""
    return weights.native if isinstance(weights, Weights) else weights


@dataclass(frozen=True)
class OpenEngine:
    """An engine that is ready to run lanes. Several machines may share it."""

    options: Engine
    native: _native.Engine = field(repr=False)

    @property
    def name(self) -> str:
        """``gpu``, ``jit`` or ``reference``."""
        return self.native.name

    @property
    def device(self) -> str | None:
        """The GPUs; ``None`` on the CPU."""
        return self.native.device

    @property
    def fallback(self) -> str | None:
        """Why ``auto`` took the CPU; ``None`` if it did not."""
        return self.native.fallback

    def __reduce__(self) -> tuple[object, tuple[Engine]]:
        return (Engine.open, (self.options,))


AnyEngine = Engine | OpenEngine | EngineName


def open_engine(engine: AnyEngine) -> OpenEngine:
    """Opens an engine, which may be given by its name."""
    if isinstance(engine, OpenEngine):
        return engine
    return (engine if isinstance(engine, Engine) else Engine(engine)).open()


class Adapter(NamedTuple):
    """A GPU, or a driver that runs shaders on the CPU."""

    name: str
    backend: str
    """``vulkan``, ``metal`` or ``dx12``."""
    driver: str
    kind: str
    """``discrete GPU``, ``integrated GPU``, ``virtual GPU``, ``software`` or ``unknown kind``."""
    bus: str
    """The PCI address; empty if the driver does not say."""
    can_run_lanes: bool
    """Whether it has 64-bit integers, which lanes need."""


def adapters() -> list[Adapter]:
    """Returns the adapters of this host. Their indices name them in :class:`Engine`."""
    return [Adapter(*row) for row in _native.adapters()]
