# Made by `cargo xtask python stubs` from the Rust sources.

import collections.abc
import typing

import numpy
from numpy.typing import NDArray

"""
The native part of kvrm.
"""

from _typeshed import SupportsGetItem
from os import PathLike
from typing import SupportsIndex, final

__all__ = ["Engine", "Environments", "Machine", "Program", "Weights", "adapters", "decode", "disassemble", "doom_variables", "stop_names", "stop_text"]

@final
class Engine:
    """
    An engine and its options.
    """
    def __new__(cls, /, options: "dict[str, object]") -> Engine:
        """
        Opens an engine. The options are those of `kvrm.Engine`.
        """
    @property
    def device(self, /) -> str | None:
        """
        The description of the GPU; `None` on the CPU.
        """
    @property
    def fallback(self, /) -> str | None:
        """
        The reason why the CPU was chosen, if nobody asked for it.
        """
    @property
    def name(self, /) -> str:
        """
        The name of the engine: `gpu`, `jit` or `reference`.
        """

@final
class Environments:
    """
    Environments. Their methods let other threads run while they work.
    """
    def __new__(cls, /, program: Program, engine: Engine, start: "dict[str, object]", options: "dict[str, object]") -> Environments:
        """
        Makes environments of a program. `start` has the options of the machine with one lane that runs it up to its first yield,
        `options` those of `kvrm.environments.Environments`.
        """
    @property
    def components(self, /) -> list[tuple[str, int, int]]:
        """
        Name, least and greatest value of each component of actions.
        """
    @staticmethod
    def doom(program: Program, engine: Engine, game: "dict[str, object]", options: "dict[str, object]") -> Environments:
        """
        Makes environments that play DOOM. `game` has the options of `kvrm.environments.Doom`.
        """
    @property
    def lanes(self, /) -> int:
        """
        The number of lanes.
        """
    def receive(self, /, wanted: SupportsIndex, out: "NDArray[numpy.uint8]") -> "dict[str, NDArray[typing.Any]]":
        """
        Runs lanes until so many have taken their step. The observations of these go to the beginning of `out`.
        """
    def reset(self, /, lanes: "NDArray[numpy.int64] | None", seeds: "NDArray[numpy.uint64] | None", scenarios: "NDArray[numpy.uint32] | None", out: "NDArray[numpy.uint8]") -> "dict[str, NDArray[typing.Any]]":
        """
        Begins an episode in some lanes. Their observations go to the beginning of `out`.
        """
    def send(self, /, lanes: "NDArray[numpy.int64] | None", actions: "NDArray[numpy.int32]") -> None:
        """
        Gives some lanes actions, with which they begin to take a step.
        """
    def set_ticks(self, /, ticks: SupportsIndex) -> None:
        """
        Changes how many units of its time the program advances in a step.
        """
    @property
    def shape(self, /) -> tuple[int, int, int]:
        """
        Rows, columns and channels of an observation; zeros if there are none.
        """
    def step(self, /, actions: "NDArray[numpy.int32]", out: "NDArray[numpy.uint8]") -> "dict[str, NDArray[typing.Any]]":
        """
        Takes a step in each lane, and writes the observations to `out`.
        """

@final
class Machine:
    """
    A machine. Its methods let other threads run while they work.
    """
    def __new__(cls, /, program: Program, engine: Engine, options: "dict[str, object]", hooks: "dict[str, object]") -> Machine:
        """
        Makes a machine. The options are those of `kvrm.Machine`.
        """
    def audit(self, /) -> list[str]:
        """
        Returns the violations that an audit of all page tables finds.
        """
    def fork(self, /, lane: SupportsIndex, engine: Engine | None, options: "dict[str, object]") -> Machine:
        """
        Makes a machine whose lanes begin in the state of a lane, on another engine if there is one.
        """
    @property
    def lanes(self, /) -> int:
        """
        The number of lanes.
        """
    def output(self, /, lane: SupportsIndex, stream: str) -> bytes:
        """
        Returns what a lane has written to a stream: `output` or `error`.
        """
    def output_truncated(self, /, lane: SupportsIndex) -> bool:
        """
        Whether output of a lane was dropped.
        """
    def private_pages(self, /, lane: SupportsIndex) -> "NDArray[numpy.uint64]":
        """
        Returns the addresses of the pages that a lane has written.
        """
    def read(self, /, address: SupportsIndex, bytes: SupportsIndex, lanes: "NDArray[numpy.int64] | None") -> "NDArray[numpy.uint8]":
        """
        Reads memory of some lanes, one after the other.
        """
    def registers(self, /, register: str) -> "NDArray[numpy.uint64]":
        """
        Returns a register of all lanes.
        """
    def reset(self, /, lanes: "NDArray[numpy.int64] | None") -> None:
        """
        Restores the snapshot in some lanes.
        """
    def resume(self, /, lanes: "NDArray[numpy.int64] | None") -> None:
        """
        Clears the stops of some lanes.
        """
    def run(self, /, budget: SupportsIndex, observe: "collections.abc.Callable[[int, int, int, float], object] | None") -> tuple[str, str]:
        """
        Runs the lanes, each for at most `budget` more steps. `observe` is called with steps, lanes, lanes that run, and seconds; if it
        returns false, the run ends. Returns the report as JSON and as text.
        """
    def save_files(self, /, lane: SupportsIndex, guest: str, host: str | PathLike[str]) -> None:
        """
        Writes files of a lane of a Linux program to the host.
        """
    def set_arguments(self, /, lane: SupportsIndex, arguments: SupportsGetItem[int, str]) -> None:
        """
        Sets the arguments of a lane.
        """
    def set_hooks(self, /, hooks: "dict[str, object]") -> None:
        """
        Replaces the hooks.
        """
    def set_registers(self, /, register: str, lanes: "NDArray[numpy.int64] | None", values: "NDArray[numpy.uint64]") -> None:
        """
        Sets a register of some lanes.
        """
    def set_stdin(self, /, lane: SupportsIndex, bytes: SupportsGetItem[int, SupportsIndex]) -> None:
        """
        Sets the standard input of a lane.
        """
    def set_vectors(self, /, number: SupportsIndex, lanes: "NDArray[numpy.int64] | None", halves: "NDArray[numpy.uint64]") -> None:
        """
        Sets a vector register of some lanes: the low and the high half of each.
        """
    def snapshot(self, /) -> None:
        """
        Saves the state of all lanes.
        """
    def stops(self, /) -> "tuple[NDArray[numpy.uint8], NDArray[numpy.uint64], NDArray[numpy.uint8]]":
        """
        Returns the stops of all lanes, in columns: the number of the kind, or 255 for none; the value; details.
        """
    def vectors(self, /, number: SupportsIndex) -> "NDArray[numpy.uint64]":
        """
        Returns a vector register of all lanes: the low and the high half of each.
        """
    def write(self, /, address: SupportsIndex, lanes: "NDArray[numpy.int64] | None", data: "NDArray[numpy.uint8]") -> None:
        """
        Writes the same bytes to the memory of some lanes.
        """
    def write_rows(self, /, address: SupportsIndex, lanes: "NDArray[numpy.int64] | None", rows: "NDArray[numpy.uint8]") -> None:
        """
        Writes memory of some lanes: a row for each.
        """

@final
class Program:
    """
    A program.
    """
    @property
    def entry(self, /) -> int:
        """
        The address of the first instruction.
        """
    @staticmethod
    def from_bytes(name: str, file: SupportsGetItem[int, SupportsIndex], system: str | None) -> Program:
        """
        Loads the bytes of an ELF file.
        """
    @property
    def name(self, /) -> str:
        """
        The name that the guest sees as its first argument.
        """
    @staticmethod
    def open(path: str | PathLike[str], system: str | None) -> Program:
        """
        Reads an ELF file.
        """
    def parts(self, /) -> tuple[str, tuple[str, bytes, str | None] | tuple[str, bytes, int, int]]:
        """
        The function that makes the program again, and its arguments.
        """
    @staticmethod
    def raw(name: str, data: SupportsGetItem[int, SupportsIndex], address: SupportsIndex, bytes: SupportsIndex) -> Program:
        """
        Makes a program of raw bytes at an address, with so many bytes of memory.
        """
    def segments(self, /) -> list[tuple[int, int, bytes, str]]:
        """
        Address, size in memory, data and permissions (such as `r-x`) of each segment.
        """
    def symbols(self, /) -> list[tuple[str, int, int, str]]:
        """
        Name, address, size and kind (`function` or `data`) of each symbol, in the order of addresses.
        """
    @property
    def system(self, /) -> str:
        """
        The system whose calls the program makes: `linux` or `semihosting`.
        """

@final
class Weights:
    """
    The weights of a network.
    """
    @property
    def architecture(self, /) -> str:
        """
        The name of the architecture.
        """
    @staticmethod
    def builtin(architecture: str) -> Weights:
        """
        Returns the weights that come with KVRM.
        """
    @staticmethod
    def from_flat(architecture: str, values: "NDArray[numpy.float32]") -> Weights:
        """
        Makes weights from the flat form of an architecture.
        """
    @staticmethod
    def from_tensors(architecture: str | None, tensors: "list[tuple[str, tuple[int, ...], NDArray[numpy.float32]]]") -> Weights:
        """
        Makes weights from tensors: name, dimensions and values of each. Without an architecture, it is the one that has them.
        """
    @staticmethod
    def load(path: str | PathLike[str]) -> Weights:
        """
        Loads a safetensors file.
        """
    def save(self, /, path: str | PathLike[str]) -> None:
        """
        Saves a safetensors file, with values of 32 bits.
        """
    def shapes(self, /) -> list[tuple[str, list[int]]]:
        """
        Returns the name and the dimensions of each tensor, in the order of the flat form.
        """
    def values(self, /) -> "NDArray[numpy.float32]":
        """
        Returns the flat form.
        """

def adapters() -> list[tuple[str, str, str, str, str, bool]]:
    """
    Returns a GPU of the host for each adapter: its name, backend, driver, kind, PCI address, and whether it can run lanes.
    """

def decode(word: SupportsIndex) -> tuple[str, str] | None:
    """
    Returns the name of the encoding of a word in Arm's specification, and its class; `None` if it is undefined.
    """

def disassemble(word: SupportsIndex, address: SupportsIndex) -> str:
    """
    Returns the assembly text of a word at an address.
    """

def doom_variables() -> list[str]:
    """
    Returns the names of DOOM's variables, without `doom_`.
    """

def stop_names() -> list[str]:
    """
    Returns the names of the kinds of stops, by their numbers.
    """

def stop_text(kind: SupportsIndex, value: SupportsIndex, detail: SupportsIndex) -> str:
    """
    Returns a stop in words.
    """
