"""Many inputs of one program, on many processes and machines: Ray (``pip install kvrm[ray]``).

>>> import kvrm
>>> from kvrm.distributed import Input, map_lanes
>>> program = kvrm.Program.from_words([0x91000400, 0xd4400000])  # add x0, x0, #1; hlt #0
>>> inputs = (Input(registers={"x0": number}) for number in range(5))
>>> [result.registers["x0"] for result in map_lanes(program, inputs, workers=0, registers=["x0"])]
[1, 2, 3, 4, 5]
"""

from __future__ import annotations

import importlib
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .engine import AnyEngine, Engine, OpenEngine, adapters, open_engine
from .machine import Machine
from .program import Program
from .stops import Stop, Stops

_Key = TypeVar("_Key", int, str)
_Value = TypeVar("_Value")

LANES_FIRST = 64
"""The number of inputs of the first batches, whose time is measured."""
GROWTH_MAX = 8.0
"""The largest factor from one size of batches to the next."""


@dataclass(frozen=True)
class Input:
    """What one lane gets."""

    arguments: Sequence[str] = ()
    """The command line behind the name of the program."""
    stdin: bytes = b""
    registers: Mapping[str, int] = field(default_factory=dict)
    """Registers before the first step. All inputs set the same ones."""
    memory: Mapping[int, bytes] = field(default_factory=dict)
    """Bytes at addresses before the first step. All inputs write the same addresses and sizes."""


@dataclass(frozen=True)
class Result:
    """What one lane has done."""

    index: int
    """The number of the input, from 0."""
    stop: Stop | None
    steps: int
    """The instructions that it has retired."""
    output: bytes
    error: bytes
    """What it has written to its standard output and to its standard error."""
    registers: dict[str, int]
    """The registers that were asked for."""


@dataclass(frozen=True)
class Batch:
    """The results of consecutive inputs, as columns."""

    first: int
    """The number of the first input."""
    stops: Stops
    steps: NDArray[np.uint64]
    outputs: list[bytes]
    errors: list[bytes]
    registers: dict[str, NDArray[np.uint64]]
    seconds: float
    """The time that the worker took."""

    def __len__(self) -> int:
        return len(self.stops)

    def __iter__(self) -> Iterator[Result]:
        for index, stop in enumerate(self.stops):
            yield Result(
                index=self.first + index,
                stop=stop,
                steps=int(self.steps[index]),
                output=self.outputs[index],
                error=self.errors[index],
                registers={name: int(values[index]) for name, values in self.registers.items()},
            )


@dataclass(frozen=True)
class _Task:
    """What a worker does with each batch."""

    program: Program
    engine: AnyEngine
    budget: int | None
    registers: tuple[str, ...]
    options: dict[str, Any]


class _Worker:
    """Runs batches, one after the other, on an engine that stays open."""

    def __init__(self, gpus: Callable[[], list[int]] | None = None) -> None:
        self._gpus = gpus
        self._opened: tuple[_Task, OpenEngine] | None = None

    def run(self, given: Callable[[], _Task], first: int, inputs: Sequence[Input]) -> Batch:
        """Runs a lane for each input. ``first`` is the number of the first input, from which random numbers follow. The first call
        gets the task, which is the same in all calls."""
        begin = time.perf_counter()
        task, engine = self._opened = self._opened or self._open(given())
        machine = Machine(
            task.program,
            lanes=len(inputs),
            engine=engine,
            first_lane=first,
            arguments=[list(lane.arguments) for lane in inputs],
            stdin=[lane.stdin for lane in inputs],
            **task.options,
        )
        for name, values in _columns("registers", first, [lane.registers for lane in inputs]).items():
            machine.registers[name] = values
        for address, rows in _columns("memory", first, [lane.memory for lane in inputs]).items():
            for index, row in enumerate(rows):
                if len(row) != len(rows[0]):
                    sizes = f"{len(row)} bytes at {address:#x}, and input {first} {len(rows[0])}"
                    raise ValueError(f"input {first + index} writes {sizes}: expected the same number")
            machine.write_memory(address, np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1))
        machine.run(task.budget)
        return Batch(
            first=first,
            stops=machine.stops,
            steps=machine.registers["steps"],
            outputs=machine.outputs(),
            errors=machine.outputs("error"),
            registers={name: machine.registers[name] for name in task.registers},
            seconds=time.perf_counter() - begin,
        )


    def _open(self, task: _Task) -> tuple[_Task, OpenEngine]:
        return task, open_engine(_on_gpus(task.engine, self._gpus() if self._gpus else []))


@dataclass(frozen=True)
class _Shared:
    """A task in the object store of Ray. A worker that is started again finds it there, too."""

    reference: Any

    def __call__(self) -> _Task:
        ray: Any = importlib.import_module("ray")
        task: _Task = ray.get(self.reference)
        return task


def _columns(what: str, first: int, lanes: Sequence[Mapping[_Key, _Value]]) -> dict[_Key, list[_Value]]:
    """Returns what inputs set, by key. All of them have to set the same keys; ``first`` is the number of the first input."""
    keys = lanes[0].keys()
    for index, lane in enumerate(lanes):
        if lane.keys() != keys:
            there, here = sorted(map(str, keys)), sorted(map(str, lane.keys()))
            raise ValueError(f"input {first + index} sets the {what} {here}, and input {first} {there}: expected the same")
    return {key: [lane[key] for lane in lanes] for key in keys}


def _on_gpus(engine: AnyEngine, gpus: list[int]) -> AnyEngine:
    """Returns an engine on the GPUs that Ray has given to this worker, which it numbers by their PCI addresses."""
    if not gpus:
        return engine
    places = [(adapter.bus, index) for index, adapter in enumerate(adapters()) if adapter.kind == "discrete GPU"]
    by_bus = [index for _, index in sorted({bus: index for bus, index in reversed(places)}.items())]
    options = engine.options if isinstance(engine, OpenEngine) else engine
    options = options if isinstance(options, Engine) else Engine(options)
    chosen = [by_bus[gpu] for gpu in gpus]
    return Engine(**{**vars(options), "name": "gpu", "adapter": None, "gpus": chosen})


def map_batches(
    program: Program,
    inputs: Iterable[Input | bytes | Sequence[str]],
    budget: int | None = None,
    *,
    workers: int | None = None,
    engine: AnyEngine = "auto",
    cpus: float = 1,
    gpus: float = 0,
    seconds: float = 2.0,
    lanes_max: int = 1 << 16,
    registers: Sequence[str] = (),
    progress: Callable[[int], object] | bool = False,
    **options: Any,
) -> Iterator[Batch]:
    """Runs a lane for each input on the workers of a Ray cluster, and yields the results in the order of the inputs.

    Results do not depend on workers, engines and batches: those of input n are those of lane n of one large machine. A worker that
    is lost is started again and repeats its batch. Inputs are read, and results are kept, only a few batches ahead of the caller.

    :param program: the program.
    :param inputs: an :class:`Input` for each lane; bytes stand for its standard input, a list of texts for its arguments.
    :param budget: the largest number of steps of each lane. By default there is no limit.
    :param workers: the number of workers. By default as many as the cluster has room for; with 0, batches run in this process,
        without Ray.
    :param engine: the engine of each worker.
    :param cpus: the CPUs of each worker, also the threads of the engines on the CPU.
    :param gpus: the GPUs of each worker. Its lanes are divided among them.
    :param seconds: the time that a batch should take: the number of its inputs is adapted to it.
    :param lanes_max: the largest number of inputs in a batch.
    :param registers: registers whose last values are returned.
    :param progress: a function that is called with the number of results so far, or ``True`` for a bar of the package tqdm.
    :param options: options of :class:`kvrm.Machine`.
    :raises kvrm.Error: a machine cannot be built, as for :class:`kvrm.Machine`. In a worker it is the cause of Ray's error.
    """
    task = _Task(program, engine, budget, tuple(registers), options)
    given = (_input(value) for value in inputs)
    if workers == 0:
        batches = _run_here(task, given, seconds, lanes_max)
    else:
        batches = _run_on_ray(task, given, _Pool(workers, cpus, gpus, seconds, lanes_max))
    return _with_progress(batches, progress)


def map_lanes(
    program: Program, inputs: Iterable[Input | bytes | Sequence[str]], budget: int | None = None, **options: Any
) -> Iterator[Result]:
    """Runs a lane for each input, and yields a result for each, in their order. The options are those of :func:`map_batches`."""
    return itertools.chain.from_iterable(map_batches(program, inputs, budget, **options))


def _input(value: Input | bytes | Sequence[str]) -> Input:
    if isinstance(value, Input):
        return value
    if isinstance(value, (bytes, bytearray)):
        return Input(stdin=bytes(value))
    if isinstance(value, str):
        raise TypeError(f"input {value!r}: expected bytes, a list of texts or an Input")
    return Input(arguments=list(value))


def _next_size(size: int, batch: Batch, seconds: float, most: int) -> int:
    """Returns the size of the next batches after one of them was measured."""
    wanted = size * min(GROWTH_MAX, seconds / max(batch.seconds, 1e-3))
    return max(1, min(most, int(wanted)))


def _run_here(task: _Task, inputs: Iterator[Input], seconds: float, most: int) -> Iterator[Batch]:
    worker = _Worker()
    first, size = 0, min(LANES_FIRST, most)
    while lanes := list(itertools.islice(inputs, size)):
        batch = worker.run(lambda: task, first, lanes)
        first += len(lanes)
        if len(lanes) == size:
            size = _next_size(size, batch, seconds, most)
        yield batch


@dataclass(frozen=True)
class _Pool:
    """The workers, and the batches for them."""

    workers: int | None
    cpus: float
    gpus: float
    seconds: float
    lanes_max: int


def _run_on_ray(task: _Task, inputs: Iterator[Input], pool: _Pool) -> Iterator[Batch]:
    try:
        ray: Any = importlib.import_module("ray")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("Ray is not installed: `pip install kvrm[ray]`, or workers=0") from error
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    count = pool.workers
    if count is None:
        room = ray.cluster_resources()
        rooms = [room.get(name, 0) / each for name, each in (("CPU", pool.cpus), ("GPU", pool.gpus)) if each]
        count = max(1, int(min(rooms, default=1)))
    # A lost worker is started again, and its batch repeated, as often as needed.
    remote = ray.remote(
        num_cpus=pool.cpus,
        num_gpus=pool.gpus,
        max_restarts=-1,
        max_task_retries=-1,
        runtime_env={"env_vars": {"RAYON_NUM_THREADS": str(max(1, round(pool.cpus)))}},
    )(_Worker)
    shared = _Shared(ray.put(task))
    actors = [remote.remote(ray.get_gpu_ids if pool.gpus else None) for _ in range(count)]
    try:
        yield from _ordered(ray, actors, shared, inputs, pool)
    finally:
        for actor in actors:
            ray.kill(actor)


def _ordered(
    ray: Any, actors: list[Any], task: _Shared, inputs: Iterator[Input], pool: _Pool
) -> Iterator[Batch]:
    """Yields batches in the order of their inputs. Each actor has one that runs and one that waits."""
    free = deque(actor for _ in range(2) for actor in actors)
    # Batches that are given to actors or done, in the order of their inputs, at most twice as many as actors can have.
    order: deque[Any] = deque()
    running: dict[Any, tuple[Any, int]] = {}
    done: dict[Any, Batch] = {}
    first, size, is_over = 0, min(LANES_FIRST, pool.lanes_max), False
    while True:
        while free and not is_over and len(order) < 4 * len(actors):
            lanes = list(itertools.islice(inputs, size))
            is_over = len(lanes) < size
            if not lanes:
                break
            actor = free.popleft()
            reference = actor.run.remote(task, first, lanes)
            running[reference] = (actor, len(lanes))
            order.append(reference)
            first += len(lanes)
        if not order:
            return
        if order[0] in done:
            yield done.pop(order.popleft())
            continue
        for reference in ray.wait(list(running), num_returns=1)[0]:
            actor, lanes_run = running.pop(reference)
            done[reference] = batch = ray.get(reference)
            free.append(actor)
            if lanes_run >= size // 2:
                size = _next_size(lanes_run, batch, pool.seconds, pool.lanes_max)


def _with_progress(batches: Iterator[Batch], progress: Callable[[int], object] | bool) -> Iterator[Batch]:
    """Yields batches, and shows how many results there are."""
    if progress is True:
        from tqdm.auto import tqdm

        with tqdm(unit="lane") as bar:
            for batch in batches:
                bar.update(len(batch))
                yield batch
        return
    count = 0
    for batch in batches:
        count += len(batch)
        if progress:
            progress(count)
        yield batch
