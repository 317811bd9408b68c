"""Machines with the methods of the original."""

from __future__ import annotations

import dataclasses
import operator
import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import kvrm
from kvrm.engine import EngineName, OpenEngine

from . import weights as networks
from .weights import AnyWeights, NeuralWeightCollection, UnusedWeightsWarning, checked

_WORD = 1 << 64
_PAGE_BYTES = 4096
_NAMES = (*(f"x{number}" for number in range(31)), "sp")
"""The registers by their numbers in the original."""
_ALL_NAMES = (
    *_NAMES,
    *("pc", "nzcv", "fpcr", "fpsr", "tpidr_el0", "steps"),
    *(f"v{number}" for number in range(32)),
)

_HALT, _SYSCALL, _MAX_CYCLES = 1, 2, 3


@dataclass(frozen=True, eq=False)
class ExecutionResult:
    """What a call of ``execute`` has done."""

    cycles: int
    """The instructions that lane 0 has retired in this call."""
    final_pc: int
    """The program counter of lane 0."""
    stop: kvrm.Stop
    """Why lane 0 has stopped. Where the program runs into zeros, it is ``undefined``."""
    lane_cycles: NDArray[np.uint64]
    """The instructions that each lane has retired in this call. Shape: lanes."""
    final_pcs: NDArray[np.uint64]
    """The program counter of each lane. Shape: lanes."""
    stops: kvrm.Stops
    """Why each lane has stopped."""
    report: kvrm.Report
    """The report of the run, for instance how often the dispatch network was asked and wrong (``decisions``)."""

    @property
    def stop_reason(self) -> int:
        """The stop of lane 0 as a number: 3 for the end of its cycles, 2 for a system call, 1 for any other."""
        if self.stop.kind == "budget":
            return _MAX_CYCLES
        return _SYSCALL if self.stop.kind in ("syscall", "system-call") else _HALT


class _LaneCPU:
    """Lanes with flat memory from address 0."""

    def __init__(
        self, num_lanes: int, memory_size: int, *, engine: kvrm.Engine | EngineName = "auto"
    ) -> None:
        self._lanes = operator.index(num_lanes)
        self._memory_size = operator.index(memory_size)
        if self._lanes < 1:
            raise kvrm.Error(f"num_lanes {num_lanes}: expected at least 1")
        if not 1 <= self._memory_size <= 1 << 47:
            raise kvrm.Error(f"memory_size {memory_size}: expected 1 to 2^47")
        self._options = engine if isinstance(engine, kvrm.Engine) else kvrm.Engine(engine)
        self._engine: OpenEngine | None = None
        self._machine: kvrm.Machine | None = None
        # The state of the lanes while there is no machine.
        self._image = bytearray()
        self._registers = {name: np.zeros(self._lanes, np.uint64) for name in (*_NAMES, "pc")}

    def get_num_lanes(self) -> int:
        """Returns the number of lanes."""
        return self._lanes

    @property
    def memory_size(self) -> int:
        """The size of the memory of each lane, in bytes."""
        return self._memory_size

    @property
    def engine(self) -> OpenEngine:
        """The engine that runs the lanes, with the weights that are loaded."""
        if self._engine is None:
            self._engine = self._options.open()
        return self._engine

    @property
    def machine(self) -> kvrm.Machine:
        """The machine behind it, which can do more. Weights that are loaded later replace it by another one."""
        if self._machine is None:
            self._machine = self._new_machine(self.engine)
            for name, values in self._registers.items():
                self._machine.registers[name] = values
        return self._machine

    def _new_machine(self, engine: OpenEngine) -> kvrm.Machine:
        """Makes a machine with the memory that was written before the first call of ``execute``."""
        program = kvrm.Program.raw(bytes(self._image), 0, self._memory_size)
        # Nothing but the memory: no stack and no heap.
        return kvrm.Machine(program, lanes=self._lanes, engine=engine, stack_bytes=0, heap_bytes=0)

    # Registers and memory

    def set_register(self, lane_id: int, reg_id: int, value: int) -> None:
        """Sets a register of a lane.

        :param reg_id: 0 to 30, or 31 for SP.
        :param value: it is taken modulo 2^64.
        :raises IndexError: there is no such lane.
        :raises kvrm.Error: there is no such register.
        """
        self._set(lane_id, _register(reg_id), value)

    def get_register(self, lane_id: int, reg_id: int) -> int:
        """Returns a register of a lane, as a signed number of 64 bits.

        :param reg_id: 0 to 30, or 31 for SP.
        :raises IndexError: there is no such lane.
        :raises kvrm.Error: there is no such register.
        """
        value = self._get(lane_id, _register(reg_id))
        return value - _WORD if value >> 63 else value

    def set_pc(self, lane_id: int, pc: int) -> None:
        """Sets the program counter of a lane, which is 0 in the beginning. A lane that has exited can run again.

        :raises IndexError: there is no such lane.
        """
        self._set(lane_id, "pc", pc)
        if self._machine is not None:
            self._machine.resume(self._lane(lane_id))

    def get_pc(self, lane_id: int) -> int:
        """Returns the program counter of a lane.

        :raises IndexError: there is no such lane.
        """
        return self._get(lane_id, "pc")

    def write_memory(self, address: int, data: bytes | Iterable[int]) -> None:
        """Writes bytes to the memory of all lanes.

        :param data: bytes, or numbers from 0 to 255.
        :raises kvrm.Error: some are behind the end of the memory. Then nothing is written.
        """
        data = bytes(data)
        end = self._check_range("write", address, len(data))
        if self._machine is not None:
            self._machine.write_memory(address, data)
            return
        self._image.extend(bytes(max(end - len(self._image), 0)))
        self._image[address:end] = data

    def write_memory_u32(self, address: int, value: int) -> None:
        """Writes a number of 32 bits to the memory of all lanes, for instance an instruction.

        :raises kvrm.Error: the number has more bits, or the place is behind the end of the memory.
        """
        if not 0 <= operator.index(value) < 1 << 32:
            raise kvrm.Error(f"value {value}: expected 0 to 2^32 - 1")
        self.write_memory(address, operator.index(value).to_bytes(4, "little"))

    def read_memory(self, address: int, length: int, lane_id: int = 0) -> bytes:
        """Returns memory of a lane.

        :raises IndexError: there is no such lane.
        :raises kvrm.Error: a byte is behind the end of the memory.
        """
        lane, end = self._lane(lane_id), self._check_range("read", address, length)
        if self._machine is not None:
            return self._machine.memory(address, length, lanes=lane).tobytes()
        return bytes(self._image[address:end]).ljust(length, b"\0")

    # Weights

    def load_dispatch_weights(self, weights: AnyWeights) -> None:
        """Lets a dispatch network name the class of each instruction in each step, on a GPU. Results do not depend on it: where it is
        wrong, the table of instructions decides, and ``report.decisions`` counts it.

        Weights that are loaded later replace these, here and in ``load_embedding_weights``: one network names the classes.

        :param weights: in flat form. Shape: 10,279 for the network with an embedding of the top byte, or 135 for the one without. Of a
            collection, they are its dispatch weights, or its embedding weights if it has no others.
        :raises kvrm.Error: they have another shape, a value is not finite, or there is no GPU.
        """
        self._load_classes(_dispatch_network(weights), weights)

    def load_embedding_weights(self, weights: AnyWeights) -> None:
        """Loads weights of the dispatch network with an embedding, as ``load_dispatch_weights`` does. Shape: 10,279."""
        self._load_classes(networks.EMBEDDING, weights)

    def load_loop_weights(self, weights: AnyWeights) -> None:
        """Lets the loop detector propose loops, on the GPU or on the CPU. Many iterations of a loop are executed at once where the exact
        checker has proved what they do, so results do not depend on the weights.

        The other networks that look at loops have the weights that come with KVRM, unless ``load_pattern_weights`` replaces them.

        :param weights: in flat form. They are rounded to half precision. Shape: 1,083,397.
        :raises kvrm.Error: they have another shape, or a value is not finite or too large for half precision.
        """
        self._load_loops(networks.LOOP_DETECTOR, weights)

    def load_pattern_weights(self, weights: AnyWeights) -> None:
        """Lets the pattern recogniser propose loops, as ``load_loop_weights`` does. Shape: 508,161."""
        self._load_loops(networks.PATTERN_RECOGNIZER, weights)

    def load_memory_weights(self, weights: AnyWeights) -> None:
        """Checks weights of the memory oracle, and warns that no run uses them.

        :param weights: in flat form. Shape: 271,124.
        :raises kvrm.Error: they have another shape, or a value is not finite.
        """
        checked(networks.MEMORY_ORACLE, weights)
        text = "the memory oracle weights are right, but no run uses them"
        warnings.warn(text, UnusedWeightsWarning, stacklevel=2)

    def _load_classes(self, network: networks.Network, weights: AnyWeights) -> None:
        """Loads the weights of a network that names classes."""
        own = checked(network, weights)
        try:
            self._use(dataclasses.replace(self._options, class_selection="network", weights=own))
        except kvrm.Error as error:
            raise type(error)(f"{network.name} weights need a GPU: {error}") from None

    def _load_loops(self, network: networks.Network, weights: AnyWeights) -> None:
        """Loads the weights of a network that looks at loops."""
        own = checked(network, weights)
        others = [
            other
            for other in self._options.loop_weights
            if not isinstance(other, kvrm.Weights) or other.architecture != own.architecture
        ]
        self._use(dataclasses.replace(self._options, loops="networks", loop_weights=(*others, own)))

    def _use(self, options: kvrm.Engine) -> None:
        """Continues with an engine of other options."""
        engine = options.open()
        if self._machine is not None:
            self._machine = self._moved(self._machine, engine)
        self._options, self._engine = options, engine

    def _moved(self, old: kvrm.Machine, engine: OpenEngine) -> kvrm.Machine:
        """Makes a machine with another engine and the same lanes. They have no stops."""
        new = self._new_machine(engine)
        for lane in range(self._lanes):
            for page in old.private_pages(lane).tolist():
                new.write_memory(page, old.memory(page, _PAGE_BYTES, lanes=lane), lane)
        for name in _ALL_NAMES:
            new.registers[name] = old.registers[name]
        return new

    # Runs

    def execute(self, max_cycles: int) -> ExecutionResult:
        """Runs all lanes until each has stopped.

        A lane that has stopped tries the instruction at its program counter again; one that has exited stays stopped until
        ``set_pc``.

        :param max_cycles: the largest number of instructions of each lane.
        :raises kvrm.EngineError: the engine fails. A mistake of a program is a stop.
        """
        machine = self.machine
        before = machine.registers["steps"]
        machine.resume(machine.stops != "exit")
        report = machine.run(max_cycles)
        stops, pcs = machine.stops, machine.registers["pc"]
        cycles = machine.registers["steps"] - before
        stop = stops[0]
        assert stop is not None, "a run ends when all lanes have stopped"
        return ExecutionResult(int(cycles[0]), int(pcs[0]), stop, cycles, pcs, stops, report)

    def _get(self, lane: int, name: str) -> int:
        """Returns a register of a lane."""
        values = self._registers[name] if self._machine is None else self._machine.registers[name]
        return int(values[self._lane(lane)])

    def _set(self, lane: int, name: str, value: int) -> None:
        """Sets a register of a lane."""
        number, value = self._lane(lane), operator.index(value) % _WORD
        if self._machine is None:
            self._registers[name][number] = value
        else:
            self._machine.registers[name, number] = value

    def _lane(self, lane: int) -> int:
        """Returns the number of a lane."""
        if not 0 <= operator.index(lane) < self._lanes:
            raise IndexError(f"lane {lane} of {self._lanes}")
        return operator.index(lane)

    def _check_range(self, access: str, address: int, length: int) -> int:
        """Returns the end of a range of memory."""
        end = operator.index(address) + operator.index(length)
        if not 0 <= address <= end <= self._memory_size:
            raise kvrm.Error(
                f"{access} of {length} bytes at {address:#x}: the memory has {self._memory_size:#x} bytes"
            )
        return end

    def __repr__(self) -> str:
        return f"{type(self).__name__}(num_lanes={self._lanes}, memory_size={self._memory_size})"


class PyNeuralMetalCPU(_LaneCPU):
    """Lanes with flat memory from address 0, and networks that choose how they are executed.

    Each lane has a memory of its own, which the original shares among all lanes; so lanes cannot disturb each other. What
    ``write_memory`` writes, all of them see. All memory may be read, written and executed. Its end is that of a page of 4096
    bytes. Registers and flags are 0 in the beginning. A program ends where it runs into zeros, which are no instruction.

    Weights are used from the moment in which they are loaded; without weights of a dispatch network, the table of instructions
    decides. No result depends on weights. They may be loaded between two calls of ``execute``: the lanes keep registers and memory,
    but one that has exited runs on behind the call that has ended it.

    :param num_lanes: the number of lanes.
    :param memory_size: the size of the memory of each lane, in bytes. Pages cost nothing until a lane writes them.
    :param engine: a name of an engine, or its options.
    :raises kvrm.Error: there are no lanes, no memory, or no such engine.
    """


class PyPureGPUCPU(_LaneCPU):
    """The same as :class:`PyNeuralMetalCPU`. In the original, one of both executes each instruction with a dispatch of its own, the
    other one whole programs; here both run whole programs.

    :param num_lanes: the number of lanes.
    :param memory_size: the size of the memory of each lane, in bytes.
    :param engine: a name of an engine, or its options.
    :raises kvrm.Error: there are no lanes, no memory, or no such engine.
    """


def _register(number: int) -> str:
    """Returns the name of a register."""
    if not 0 <= operator.index(number) < len(_NAMES):
        raise kvrm.Error(f"register {number}: expected 0 to 30, or 31 for sp")
    return _NAMES[number]


def _dispatch_network(weights: AnyWeights) -> networks.Network:
    """Returns the dispatch network that weights are of, or the most likely one."""
    if isinstance(weights, NeuralWeightCollection):
        return networks.EMBEDDING if weights.dispatch_weights is None else networks.DISPATCH
    if isinstance(weights, kvrm.Weights):
        is_small = weights.architecture == networks.DISPATCH.architecture
    else:
        values = weights.weights if isinstance(weights, networks.ModelWeights) else weights
        is_small = np.size(values) == 135
    return networks.DISPATCH if is_small else networks.EMBEDDING
