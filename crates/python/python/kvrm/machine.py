"""Machines, which run a program in many lanes."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar, Union

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _native
from .engine import AnyEngine, Engine, OpenEngine, open_engine
from .errors import Error
from .program import Program
from .report import Report, from_json
from .stops import Stops

Lanes = int | slice | Sequence[int] | NDArray[np.integer[Any]] | NDArray[np.bool_] | None
"""Some lanes of a machine: a number, a slice, a list of numbers, or a mask; ``None`` for all. A negative number counts from the end."""

Feature = Literal[
    "crc32",
    "lse",
    "fp",
    "aes",
    "pmull",
    "sha1",
    "sha256",
    "rdm",
    "dotprod",
    "fp16",
    "sha512",
    "sha3",
    "sm3",
    "sm4",
    "fhm",
    "fcma",
    "jscvt",
    "frintts",
    "bf16",
    "i8mm",
    "lrcpc",
    "lrcpc2",
    "flagm",
    "flagm2",
    "dit",
    "ssbs",
    "sb",
    "bti",
    "cortex-a53",
    "cortex-a72",
    "neoverse-n1",
    "max",
]
"""An optional feature of the instruction set."""

_Row = TypeVar("_Row")
_PerLane = Union[_Row, Sequence[_Row], Callable[[int], _Row]]

BUDGET_MAX = (1 << 64) - 1
"""The budget of a run without a limit."""


class Progress(NamedTuple):
    """The progress of a run."""

    steps: int
    """The instructions that all lanes together have retired in this run."""
    lanes: int
    running: int
    """The number of lanes that have not stopped."""
    seconds: float
    """The time since the run began."""


class TraceStep(NamedTuple):
    """An instruction that a lane has executed."""

    step: int
    pc: int
    word: int
    text: str
    changes: dict[str, int]
    """The registers that it has changed, with their new values."""


Addresses = tuple[int, int] | str
"""A range of addresses ``(start, end)``, or the name of a variable."""


@dataclass(frozen=True)
class Hooks:
    """Where lanes stop for the host, before the instruction has had an effect.

    :param breakpoints: addresses of instructions, or names of functions.
    :param reads: ranges of addresses ``(start, end)``, or names of variables: lanes stop before they read a byte of them.
    :param writes: ranges of addresses, or names of variables: lanes stop before they write a byte of them.
    :param system_calls: numbers of system calls, or of semihosting operations; ``True`` for all.
    """

    breakpoints: Iterable[int | str] = ()
    reads: Iterable[Addresses] = ()
    writes: Iterable[Addresses] = ()
    system_calls: Iterable[int] | bool = ()

    def _options(self, program: Program) -> dict[str, object]:
        """Returns the hooks in the form of the native module, with addresses in place of names."""

        def bounds(addresses: Addresses) -> tuple[int, int]:
            if not isinstance(addresses, str):
                return addresses
            symbol = program.symbol(addresses)
            return symbol.address, symbol.address + max(symbol.size, 1)

        places = self.breakpoints
        calls = self.system_calls
        return {
            "breakpoints": [program.symbol(place).address if isinstance(place, str) else place for place in places],
            "reads": [bounds(addresses) for addresses in self.reads],
            "writes": [bounds(addresses) for addresses in self.writes],
            "calls": [] if isinstance(calls, bool) else list(calls),
            "all_calls": calls is True,
        }


class Registers:
    """The registers of all lanes: ``machine.registers["x0"]``.

    Names are ``x0`` to ``x30``, ``sp``, ``pc``, ``nzcv``, ``fpcr``, ``fpsr``, ``tpidr_el0`` and ``steps``, and ``v0`` to ``v31``.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def __getitem__(self, name: str) -> NDArray[np.uint64]:
        """Returns a register of all lanes. Shape: lanes; of a vector register: lanes, 2 (the low and the high half).

        :raises kvrm.Error: there is no such register.
        """
        number = _vector(name)
        if number is None:
            return self._machine._native.registers(name)
        return self._machine._native.vectors(number).reshape(-1, 2)

    def __setitem__(self, name: str | tuple[str, Lanes], values: ArrayLike) -> None:
        """Sets a register: of all lanes (``registers["x0"] = values``), or of some (``registers["x0", lanes] = values``).

        :param values: one value for each lane, or one for all of them. They are taken modulo 2^64.
        :raises ValueError: there is neither one value nor one for each lane.
        """
        name, lanes = name if isinstance(name, tuple) else (name, None)
        machine, numbers = self._machine, self._machine._numbers(lanes)
        count = machine.lanes if numbers is None else len(numbers)
        number = _vector(name)
        if number is None:
            machine._native.set_registers(name, numbers, _words(values, (count,)))
        else:
            machine._native.set_vectors(number, numbers, _words(values, (count, 2)).reshape(-1))


def _vector(name: str) -> int | None:
    """Returns the number of a vector register."""
    number = name[1:]
    if name[:1] == "v" and number.isdecimal() and str(int(number)) == number and int(number) < 32:
        return int(number)
    return None


def _words(values: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.uint64]:
    """Returns values modulo 2^64 as an array of a shape."""
    array = np.asarray(values)
    if array.dtype.kind in "fO" and not isinstance(values, np.ndarray):
        # NumPy makes floating-point numbers of a list with integers below and above 2^63.
        objects = np.asarray(values, object)
        words = [operator.index(value) % (1 << 64) for value in objects.flat]
        array = np.array(words, np.uint64).reshape(objects.shape)
    if array.dtype.kind not in "iub":
        raise TypeError(f"values of type {array.dtype}: expected integers")
    return np.ascontiguousarray(np.broadcast_to(array.astype(np.uint64), shape))


class Machine:
    """Runs a program in many lanes, each with registers and memory of its own.

    >>> import kvrm
    >>> program = kvrm.Program.from_words([0x91000400, 0xd4400000])  # add x0, x0, #1; hlt #0
    >>> machine = kvrm.Machine(program, lanes=3)
    >>> machine.registers["x0"] = [10, 20, 30]
    >>> machine.run().stops
    {'halt': 3}
    >>> machine.registers["x0"]
    array([11, 21, 31], dtype=uint64)

    ``arguments``, ``environment`` and ``stdin`` are the same for all lanes, or a list with one for each, or a function of the
    number of a lane.

    A machine can be pickled, with the state of all lanes, and :meth:`save` writes it to a file.

    :param lanes: the number of lanes.
    :param engine: a name, an :class:`Engine`, or an open one. Results do not depend on it.
    :param arguments: the command line behind the name of the program.
    :param stdin: the standard input.
    :param environment: variables of a Linux program, as ``NAME=VALUE``. It has none by default.
    :param seed: the seed of the random numbers that a Linux program gets, which also depend on the lane.
    :param first_lane: the number of the first lane in these random numbers, so that several machines can run the lanes of a large one.
    :param features: the instruction set: names of features, or of processors, which stand for all their features. By default it is
        Armv8.0 with CRC32, and for Linux programs with floating point and LSE.
    :param frames: the number of pages of 4096 bytes that each lane may write. By default the lanes share 8 GiB.
    :param stack_bytes: the size of the stack: 1 MiB, or 8 MiB for Linux.
    :param heap_bytes: the size of the heap: 16 MiB, or 256 MiB for Linux.
    :param arena_bytes: the memory that a Linux program can map with mmap: 1 GiB.
    :param disk_bytes: the size of the files that a lane of a Linux program may make.
    :param output_max: the bytes of output that are kept for each lane.
    :param real_time: whether a Linux program sees the clock of the host. By default a step takes a nanosecond.
    :param terminal: whether the standard streams of a Linux program are a terminal.
    :param mounts: directories of the host that a Linux program can read: pairs of a host and a guest path.
    :param copies: directories of the host of which each lane of a Linux program has its own copy.
    :param current_directory: the directory in which a Linux program starts.
    :param directory: the directory of the host in which semihosting programs open files.
    :param reserve: ranges of addresses ``(start, end)`` in which pages may be mapped later.
    :param hooks: breakpoints, watchpoints and filters of system calls.
    :raises kvrm.Error: the options are not possible.
    :raises kvrm.EngineError: the engine cannot be opened, or has no room for the lanes.
    """

    def __init__(
        self,
        program: Program,
        *,
        lanes: int = 1,
        engine: AnyEngine = "auto",
        arguments: _PerLane[Sequence[str]] = (),
        stdin: _PerLane[bytes] = b"",
        environment: _PerLane[Sequence[str]] = (),
        seed: int = 0,
        first_lane: int = 0,
        features: Sequence[Feature] | None = None,
        frames: int | None = None,
        stack_bytes: int | None = None,
        heap_bytes: int | None = None,
        arena_bytes: int | None = None,
        disk_bytes: int | None = None,
        output_max: int | None = None,
        real_time: bool = False,
        terminal: bool = False,
        mounts: Iterable[tuple[str | os.PathLike[str], str]] = (),
        copies: Iterable[tuple[str | os.PathLike[str], str]] = (),
        current_directory: str | None = None,
        directory: str | os.PathLike[str] | None = None,
        reserve: Iterable[tuple[int, int]] = (),
        hooks: Hooks = Hooks(),
    ) -> None:
        options = machine_options(
            lanes=lanes,
            arguments=arguments,
            stdin=stdin,
            environment=environment,
            seed=seed,
            first_lane=first_lane,
            features=features,
            frames=frames,
            stack_bytes=stack_bytes,
            heap_bytes=heap_bytes,
            arena_bytes=arena_bytes,
            disk_bytes=disk_bytes,
            output_max=output_max,
            real_time=real_time,
            terminal=terminal,
            mounts=mounts,
            copies=copies,
            current_directory=current_directory,
            directory=directory,
            reserve=reserve,
        )
        opened = open_engine(engine)
        self._set(program, opened, _native.Machine(program.native, opened.native, options, hooks._options(program)))

    def _set(self, program: Program, engine: OpenEngine, native: _native.Machine) -> None:
        self._program = program
        self._engine = engine
        self._native = native
        self._lanes = native.lanes

    @property
    def program(self) -> Program:
        """The program."""
        return self._program

    @property
    def engine(self) -> OpenEngine:
        """The engine that runs the lanes."""
        return self._engine

    @property
    def lanes(self) -> int:
        """The number of lanes."""
        return self._lanes

    def run(
        self,
        budget: int | None = None,
        progress: Callable[[Progress], object] | bool = False,
    ) -> Report:
        """Runs all lanes, and serves their calls, until each has stopped.

        Lanes that stopped for ``budget`` or ``out-of-frames`` go on; others stay stopped, unless :meth:`resume` clears that. Other
        threads of Python run meanwhile. Ctrl-C ends the run with ``KeyboardInterrupt``; the lanes keep their state, and another
        run continues them.

        :param budget: the largest number of steps of each lane in this run. By default there is no limit.
        :param progress: a function that is called several times a second at most. If it returns ``False``, the run ends, and the
            lanes that still ran stop with ``budget``. ``True`` shows a bar of the package tqdm with the lanes that have stopped.
        :raises kvrm.EngineError: the engine fails. A mistake of a guest is a stop.
        """
        limit = BUDGET_MAX if budget is None else operator.index(budget)
        if not 0 <= limit <= BUDGET_MAX:
            raise ValueError(f"budget {budget}: expected 0 to 2^64 - 1")
        if progress is True:
            return self._run_with_bar(limit)
        observe = None
        if progress:

            def observe(steps: int, lanes: int, running: int, seconds: float) -> bool:
                return progress(Progress(steps, lanes, running, seconds)) is not False

        return from_json(*self._native.run(limit, observe))

    def _run_with_bar(self, limit: int) -> Report:
        """Runs with a progress bar."""
        from tqdm.auto import tqdm

        with tqdm(total=self.lanes, unit="lane") as bar:

            def observe(steps: int, lanes: int, running: int, seconds: float) -> bool:
                bar.set_postfix({"MIPS": f"{steps / max(seconds, 1e-9) / 1e6:.0f}"}, refresh=False)
                bar.update(lanes - running - bar.n)
                return True

            report = from_json(*self._native.run(limit, observe))
            bar.update(self.lanes - bar.n)
        return report

    @property
    def stops(self) -> Stops:
        """Why each lane has stopped."""
        return Stops(*self._native.stops())

    @property
    def registers(self) -> Registers:
        """The registers of all lanes."""
        return Registers(self)

    def memory(
        self, address: int, shape: int | tuple[int, ...], dtype: DTypeLike = np.uint8, lanes: Lanes = None
    ) -> NDArray[Any]:
        """Reads the same memory of some lanes, or of all.

        :param address: the address of the first byte.
        :param shape: the shape of the array in each lane.
        :param dtype: the type of its elements, which are little-endian by default.
        :returns: an array of shape (lanes, \\*shape).
        :raises kvrm.Error: in a lane, a byte is not mapped.
        """
        kind = np.dtype(dtype)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        bytes_each = kind.itemsize * int(np.prod(shape, dtype=np.int64))
        numbers = self._numbers(lanes)
        count = self.lanes if numbers is None else len(numbers)
        data = self._native.read(address, bytes_each, numbers)
        return data.view(kind).reshape(count, *shape)

    def write_memory(self, address: int, array: ArrayLike | bytes, lanes: Lanes = None) -> None:
        """Writes memory of some lanes, or of all. If there is an error, nothing is written.

        :param address: the address of the first byte.
        :param array: an array with one row for each lane; bytes are written to each of the lanes.
        :raises ValueError: there is not one row for each lane.
        :raises kvrm.Error: in a lane, a byte is not mapped, or no frame is left for a page.
        """
        numbers = self._numbers(lanes)
        count = self.lanes if numbers is None else len(numbers)
        if isinstance(array, (bytes, bytearray, memoryview)):
            self._native.write(address, numbers, np.frombuffer(array, np.uint8))
            return
        rows = np.asarray(array)
        if rows.dtype == object:
            raise TypeError("values of type object: expected numbers; 2^63 and more need the type numpy.uint64")
        if rows.ndim == 0 or rows.shape[0] != count:
            raise ValueError(f"an array of shape {rows.shape} for {count} lanes: expected one row for each")
        self._native.write_rows(address, numbers, np.ascontiguousarray(rows).reshape(-1).view(np.uint8))

    def output(self, lane: int = 0, stream: Literal["output", "error"] = "output") -> bytes:
        """Returns what a lane has written to its standard output, or to its standard error."""
        return self._native.outputs(np.array([self._number(lane)]), stream)[0]

    def outputs(self, stream: Literal["output", "error"] = "output", lanes: Lanes = None) -> list[bytes]:
        """Returns what each of some lanes, or of all, has written to its standard output, or to its standard error."""
        return self._native.outputs(self._numbers(lanes), stream)

    def is_output_truncated(self, lane: int = 0) -> bool:
        """Whether output of a lane was dropped, because there was more than ``output_max``."""
        return self._native.output_truncated(self._number(lane))

    def set_stdin(self, lane: int, data: bytes) -> None:
        """Replaces the standard input that a lane has not read."""
        self._native.set_stdin(self._number(lane), data)

    def set_arguments(self, lane: int, arguments: Sequence[str]) -> None:
        """Replaces the arguments of a lane that has not begun."""
        self._native.set_arguments(self._number(lane), list(arguments))

    @staticmethod
    def load(path: str | os.PathLike[str], engine: AnyEngine = "auto") -> Machine:
        """Reads a machine that :meth:`save` has written, on any engine. Load only what you trust.

        :raises kvrm.Error: it is no saved machine, is damaged, or was written by another version.
        """
        with open(path, "rb") as file:
            return _load(file.read(), open_engine(engine))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the machine to a file, completely or not at all: program, registers, memory, stops, hooks, output, and the files of
        Linux programs; all but the snapshot. :meth:`load` continues it in another process or on another host. A pickle has the
        same, and the options of the engine.

        :raises kvrm.Error: guests have files in a directory of the host.
        """
        _native.write_file(path, self._native.save())

    def __reduce__(self) -> tuple[object, tuple[bytes, OpenEngine]]:
        return (_load, (self._native.save(), self._engine))

    def snapshot(self) -> None:
        """Saves the state of all lanes, to which :meth:`reset` goes back. A new snapshot replaces the last one."""
        self._native.snapshot()

    def reset(self, lanes: Lanes = None) -> None:
        """Restores the snapshot in some lanes, or in all. It costs as much as what they have written since.

        :raises kvrm.Error: there is no snapshot.
        """
        self._native.reset(self._numbers(lanes))

    def resume(self, lanes: Lanes = None) -> None:
        """Clears the stops of some lanes, or of all, so that the next run continues them. A lane that a hook has stopped executes the
        instruction there."""
        self._native.resume(self._numbers(lanes))

    def set_hooks(self, hooks: Hooks) -> None:
        """Replaces the breakpoints, watchpoints and filters of system calls."""
        self._native.set_hooks(hooks._options(self._program))

    def fork(
        self, lane: int, lanes: int, engine: AnyEngine | None = None, frames: int | None = None
    ) -> Machine:
        """Makes a machine whose lanes all begin in the state of one lane. They share its memory until they write it.

        :param lane: the lane, which does not change.
        :param lanes: the number of lanes of the new machine.
        :param engine: the engine that runs them. By default it is that of this machine.
        :param frames: the number of pages that each of them may write.
        """
        opened = self._engine if engine is None else open_engine(engine)
        options: dict[str, object] = {"lanes": lanes, "frames": frames}
        native = self._native.fork(self._number(lane), opened.native if engine is not None else None, options)
        machine = Machine.__new__(Machine)
        machine._set(self._program, opened, native)
        return machine

    def trace(self, lane: int = 0, steps: int | None = None) -> Iterator[TraceStep]:
        """Executes a copy of a lane, one instruction after the other, on the CPU. The lane does not change.

        :param steps: the largest number of instructions. By default the trace ends when the lane stops.
        """
        copy = self.fork(lane, 1, Engine("reference"))
        before = copy._all_registers()
        while steps is None or steps > 0:
            pc = before["pc"]
            try:
                word = int(copy.memory(pc, (), "<u4")[0])
            except Error:
                word = None
            copy.run(1)
            after = copy._all_registers()
            changes = {name: value for name, value in after.items() if value != before[name]}
            if changes.pop("steps", None) is None:
                return
            if changes.get("pc") == pc + 4:
                del changes["pc"]
            text = "" if word is None else _native.disassemble(word, pc)
            yield TraceStep(before["steps"], pc, word or 0, text, changes)
            stop = copy.stops[0]
            if stop is not None and stop.kind != "budget":
                return
            before = after
            steps = None if steps is None else steps - 1

    def _all_registers(self) -> dict[str, int]:
        """Returns all registers of lane 0."""
        names = [*(f"x{number}" for number in range(31)), "sp", "pc", "nzcv", "fpcr", "fpsr", "tpidr_el0", "steps"]
        registers = {name: int(self._native.registers(name)[0]) for name in names}
        for number in range(32):
            low, high = (int(half) for half in self._native.vectors(number)[:2])
            registers[f"v{number}"] = low | high << 64
        return registers

    def private_pages(self, lane: int = 0) -> NDArray[np.uint64]:
        """Returns the addresses of the pages of 4096 bytes that a lane has written."""
        return self._native.private_pages(self._number(lane))

    def save_files(self, lane: int, guest: str, host: str | os.PathLike[str]) -> None:
        """Writes the files of a directory of a lane of a Linux program to a new directory of the host."""
        self._native.save_files(self._number(lane), guest, host)

    def audit(self) -> list[str]:
        """Checks the page tables of all lanes, and returns what is wrong with them: nothing, unless the device has failed."""
        return self._native.audit()

    def _number(self, lane: int) -> int:
        """Returns the number of a lane, which may be counted from the end."""
        number = operator.index(lane)
        if not -self.lanes <= number < self.lanes:
            raise IndexError(f"lane {lane} of {self.lanes}")
        return number % self.lanes

    def _numbers(self, lanes: Lanes) -> NDArray[np.int64] | None:
        """Returns the numbers of lanes; ``None`` for all."""
        return numbers_of(lanes, self.lanes)

    def __repr__(self) -> str:
        return f"Machine({self._program.name!r}, lanes={self.lanes}, engine={self._engine.name})"


def _load(saved: bytes, engine: OpenEngine) -> Machine:
    """Makes a machine that was saved."""
    native = _native.Machine.load(saved, engine.native)
    machine = Machine.__new__(Machine)
    machine._set(Program(native.program()), engine, native)
    return machine


def numbers_of(lanes: Lanes, of: int) -> NDArray[np.int64] | None:
    """Returns the numbers of some of so many lanes; ``None`` for all."""
    if lanes is None:
        return None
    index = lanes if isinstance(lanes, slice) else np.asarray(lanes)
    if isinstance(index, np.ndarray) and index.size == 0 and index.dtype != bool:
        index = index.astype(np.int64)
    return np.atleast_1d(np.arange(of, dtype=np.int64)[index])


def machine_options(
    *,
    lanes: int,
    arguments: _PerLane[Sequence[str]] = (),
    stdin: _PerLane[bytes] = b"",
    environment: _PerLane[Sequence[str]] = (),
    features: Sequence[Feature] | None = None,
    mounts: Iterable[tuple[str | os.PathLike[str], str]] = (),
    copies: Iterable[tuple[str | os.PathLike[str], str]] = (),
    reserve: Iterable[tuple[int, int]] = (),
    **others: Any,
) -> dict[str, object]:
    """Returns options of :class:`Machine` in the form of the native module."""
    names = {
        "seed": 0,
        "first_lane": 0,
        "frames": None,
        "stack_bytes": None,
        "heap_bytes": None,
        "arena_bytes": None,
        "disk_bytes": None,
        "output_max": None,
        "real_time": False,
        "terminal": False,
        "current_directory": None,
        "directory": None,
    }
    for name in others:
        if name not in names:
            raise TypeError(f"a machine has no option {name!r}")
    return {
        **names,
        **others,
        "lanes": lanes,
        "arguments": _texts("arguments", arguments, lanes),
        "environment": _texts("environment", environment, lanes),
        "stdin": _per_lane(stdin, lanes, isinstance(stdin, (bytes, bytearray, memoryview))),
        "features": None if features is None else list(features),
        "mounts": list(mounts),
        "copies": list(copies),
        "reserve": list(reserve),
    }


def _per_lane(value: Any, lanes: int, is_shared: bool) -> list[Any]:
    """Returns a list with one entry for all lanes, or with one for each."""
    if callable(value):
        return [value(lane) for lane in range(lanes)]
    return [value] if is_shared else list(value)


def _texts(name: str, value: Any, lanes: int) -> list[list[str]]:
    """Returns lists of texts, one for all lanes or one for each."""
    is_shared = not callable(value) and not any(isinstance(row, (list, tuple)) for row in value)
    rows = _per_lane(value, lanes, is_shared)
    for row in rows:
        if isinstance(row, str) or not all(isinstance(text, str) for text in row):
            raise TypeError(f"{name}: expected a list of texts for each lane, not {row!r}")
    return [list(row) for row in rows]
