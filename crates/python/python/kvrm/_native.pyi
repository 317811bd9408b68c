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
from typing import SupportsFloat, SupportsIndex, final

__all__ = ["Engine", "Environments", "Machine", "Program", "SpikingBuilder", "SpikingEngine", "SpikingNetwork", "SpikingPopulation", "SpikingSimulation", "Weights", "adapters", "decode", "disassemble", "doom_variables", "selected_gpus", "spiking_feagi_input", "spiking_load_state", "spiking_network", "spiking_rates", "spiking_save_state", "spiking_statistics", "stop_names", "stop_text", "write_file"]

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
        The description of the GPUs; `None` on the CPU.
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
    @staticmethod
    def load(saved: SupportsGetItem[int, SupportsIndex], engine: Engine) -> Machine:
        """
        Loads a machine that was saved.
        """
    def output_truncated(self, /, lane: SupportsIndex) -> bool:
        """
        Whether output of a lane was dropped.
        """
    def outputs(self, /, lanes: "NDArray[numpy.int64] | None", stream: str) -> list[bytes]:
        """
        Returns what each of some lanes has written to a stream: `output` or `error`.
        """
    def private_pages(self, /, lane: SupportsIndex) -> "NDArray[numpy.uint64]":
        """
        Returns the addresses of the pages that a lane has written.
        """
    def program(self, /) -> Program:
        """
        Returns the program.
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
    def save(self, /) -> bytes:
        """
        Returns the machine in the form of saved machines.
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
    @staticmethod
    def assemble(text: str, address: SupportsIndex) -> Program:
        """
        Assembles a program from text.
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
    def pickle(self, /) -> bytes:
        """
        Returns the program in the form for pickles.
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
    @staticmethod
    def unpickle(pickle: SupportsGetItem[int, SupportsIndex]) -> Program:
        """
        Makes a program from its pickle.
        """

@final
class SpikingBuilder:
    """
    A builder of a spiking network. It is used up when the network is built.
    """
    def __new__(cls, /, options: "dict[str, object]") -> SpikingBuilder:
        """
        Makes a builder. The options are those of `kvrm.spiking.Builder`.
        """
    def build(self, /) -> SpikingNetwork:
        """
        Generates all synapses and returns the network.
        """
    def connect(self, /, source: SpikingPopulation, target: SpikingPopulation, projection: "dict[str, object]") -> None:
        """
        Adds the synapses of a projection.
        """
    def connect_list(self, /, source: SpikingPopulation, target: SpikingPopulation, columns: "tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64]]") -> None:
        """
        Adds synapses of a list: columns of sources, targets, weights, and delays in ms.
        """
    def learn(self, /, source: SpikingPopulation, target: SpikingPopulation, weights: tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex], rule: "tuple[str, dict[str, object]]") -> None:
        """
        Adds a plasticity rule with the limits of weights.
        """
    def population(self, /, name: str, dimensions: "dict[str, int]", models: "list[tuple[str, dict[str, object]]]", potentials: "NDArray[numpy.float64] | None") -> SpikingPopulation:
        """
        Adds a population with one model for all neurons or one for each, and likewise initial potentials.
        """

@final
class SpikingEngine:
    """
    An opened engine for spiking networks.
    """
    def __new__(cls, /, name: str, adapter: str | None) -> SpikingEngine:
        """
        Opens an engine by its name. An adapter names a GPU.
        """
    def choose(self, /, network: SpikingNetwork) -> tuple[str, str | None, int | None, str | None]:
        """
        Chooses between GPU and CPU for a network: name, GPU, number of threads, and why `auto` took the CPU.
        """

@final
class SpikingNetwork:
    """
    A spiking network.
    """
    @property
    def dt(self, /) -> float:
        """
        The length of a step, in ms.
        """
    def equals(self, /, other: SpikingNetwork) -> bool:
        """
        Whether another network is the same.
        """
    @property
    def fraction_bits(self, /) -> int:
        """
        The number of fraction bits of weights.
        """
    @staticmethod
    def from_bytes(file: bytes) -> SpikingNetwork:
        """
        Reads the bytes of a saved network.
        """
    @property
    def injection_limit(self, /) -> float:
        """
        The largest magnitude of a drive and of the injections into a neuron in a step, in the unit of weights.
        """
    @property
    def learns(self, /) -> bool:
        """
        Whether any weights learn.
        """
    @property
    def max_delay(self, /) -> float:
        """
        The longest delay that is possible, in ms.
        """
    @property
    def neurons(self, /) -> int:
        """
        The number of neurons.
        """
    @staticmethod
    def open(path: str | PathLike[str], dt: SupportsFloat | SupportsIndex | None) -> SpikingNetwork:
        """
        Opens a file. `dt` is the length of a step of a NIR graph in ms.
        """
    def populations(self, /) -> list[tuple[str, str, tuple[int, int, tuple[int, int, int]]]]:
        """
        Name, model, neurons and grid of each population.
        """
    def save(self, /, path: str | PathLike[str]) -> None:
        """
        Writes the network to a file.
        """
    @property
    def seed(self, /) -> int:
        """
        The seed of all random numbers.
        """
    @property
    def synapse_count(self, /) -> int:
        """
        The number of synapses.
        """
    def synapses(self, /, start: SupportsIndex, end: SupportsIndex) -> "tuple[NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.float64], NDArray[numpy.float64]]":
        """
        Returns the synapses that leave the neurons from `start` to `end`, in columns.
        """
    def to_bytes(self, /) -> bytes:
        """
        Returns the bytes of a saved network.
        """

@final
class SpikingPopulation:
    """
    The handle of a population of a builder.
    """
    @property
    def number(self, /) -> int:
        """
        The number of the population in the network.
        """

@final
class SpikingSimulation:
    """
    A simulation. Its methods let other threads run while they work.
    """
    def __new__(cls, /, network: SpikingNetwork, engine: SpikingEngine) -> SpikingSimulation:
        """
        Makes a simulation of a network in its initial state.
        """
    def change(self, /, changes: "list[tuple[str, dict[str, object]]]") -> None:
        """
        Changes the network between two steps.
        """
    def inject(self, /, steps: "NDArray[numpy.uint64]", neurons: "NDArray[numpy.int64]", amounts: "NDArray[numpy.float64]") -> None:
        """
        Injects amounts into neurons, in steps that count from the initial state.
        """
    @property
    def lost(self, /) -> int:
        """
        The number of spikes that were not recorded.
        """
    def network(self, /) -> SpikingNetwork:
        """
        Returns the network with all changes.
        """
    def potentials(self, /) -> "NDArray[numpy.float64]":
        """
        Returns the membrane potentials of all neurons.
        """
    def rates(self, /, steps: SupportsIndex) -> "NDArray[numpy.float64]":
        """
        Returns the mean rate of each population from the spikes recorded in the last `steps` steps.
        """
    def record(self, /, capacity: SupportsIndex, start: SupportsIndex, end: SupportsIndex) -> None:
        """
        Records spikes of the neurons from `start` to `end` from now on.
        """
    def run(self, /, steps: SupportsIndex, observe: "collections.abc.Callable[[int, float], object] | None") -> tuple[int, float]:
        """
        Runs some steps. `observe` is called with the steps of this run and its seconds; if it returns false, the run ends. Returns
        both.
        """
    def sample(self, /, start: SupportsIndex, end: SupportsIndex) -> "tuple[int, NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.float64]]":
        """
        Runs one step and returns those of the neurons from `start` to `end` that fire.
        """
    def set_drive(self, /, population: SupportsIndex, amount: SupportsFloat | SupportsIndex) -> None:
        """
        Sets the drive of a population.
        """
    def set_state(self, /, state: "dict[str, object]") -> None:
        """
        Continues from another state.
        """
    def spikes(self, /, take: bool) -> "tuple[NDArray[numpy.uint64], NDArray[numpy.uint32]]":
        """
        Returns the recorded spikes, and forgets them if `take` is true.
        """
    def state(self, /) -> "dict[str, object]":
        """
        Returns the state after the last step, as a dictionary of its fields.
        """
    @property
    def step(self, /) -> int:
        """
        The number of steps executed so far.
        """
    def synapses(self, /, start: SupportsIndex, end: SupportsIndex) -> "tuple[NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.float64], NDArray[numpy.float64]]":
        """
        Returns the synapses that leave the neurons from `start` to `end`, with the weights that they have now.
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
    def certify(self, /, progress: "collections.abc.Callable[[int], object] | None") -> tuple[str, str, bool]:
        """
        Proves that the network gives the right answer for every word, or finds where it does not. `progress` is called with the
        number of top bytes of words that were swept. Returns the certificate as JSON and as text, and whether it holds.
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
    def load(path: str | PathLike[str], architecture: str | None, names: SupportsGetItem[int, tuple[str, str]]) -> Weights:
        """
        Loads a file of any format, with new names for some of its tensors: pairs of an old and a new one.
        """
    def save(self, /, path: str | PathLike[str], dtype: str, is_flat: bool) -> None:
        """
        Saves a file of the format of its extension.
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

def selected_gpus(selection: str) -> list[int]:
    """
    Returns the indices of the GPUs of a selection: `all`, a number, or a list with commas.
    """

def spiking_feagi_input(neurons: SupportsIndex, part: SupportsFloat | SupportsIndex, steps: SupportsIndex, seed: SupportsIndex) -> "tuple[NDArray[numpy.uint64], NDArray[numpy.uint32], float]":
    """
    Returns input that makes a part of the neurons of FEAGI's area fire in each step: steps, neurons, and the amount.
    """

def spiking_load_state(path: str | PathLike[str], network: SpikingNetwork) -> "dict[str, object]":
    """
    Reads a state of a network from a file.
    """

def spiking_network(name: str, options: "dict[str, object]") -> SpikingNetwork:
    """
    Builds a network of the literature. The options are those of the function of `kvrm.spiking.networks` with this name.
    """

def spiking_rates(steps: "NDArray[numpy.uint64]", neurons: "NDArray[numpy.uint32]", options: "dict[str, object]", bin: SupportsIndex) -> "NDArray[numpy.float64]":
    """
    Returns the mean rate per neuron over time, in spikes a second, in bins of so many steps.
    """

def spiking_save_state(path: str | PathLike[str], state: "dict[str, object]") -> None:
    """
    Writes a state to a file.
    """

def spiking_statistics(steps: "NDArray[numpy.uint64]", neurons: "NDArray[numpy.uint32]", options: "dict[str, object]") -> tuple[int, int, float, float | None, float | None]:
    """
    Returns the number of neurons and of spikes, the rate, the coefficient of variation of intervals, and the correlation of spikes
    that are sorted by step. The options are the first neuron and step, those behind the last ones, and the length of a step.
    """

def stop_names() -> list[str]:
    """
    Returns the names of the kinds of stops, by their numbers.
    """

def stop_text(kind: SupportsIndex, value: SupportsIndex, detail: SupportsIndex) -> str:
    """
    Returns a stop in words.
    """

def write_file(path: str | PathLike[str], bytes: SupportsGetItem[int, SupportsIndex]) -> None:
    """
    Writes a file, completely or not at all.
    """
