"""Many inputs on the workers of a Ray cluster."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import psutil  # type: ignore[import-untyped]
import pytest
import ray

import kvrm
from conftest import GUESTS
from kvrm.distributed import Batch, Input, Result, map_batches, map_lanes

QUICKSORT = kvrm.Program.open(GUESTS / "quicksort.elf")
ADD = kvrm.Program.from_words([0x91000400, 0xD4400000])  # add x0, x0, #1; hlt #0


def inputs(count: int) -> Iterator[list[str]]:
    """Sizes and seeds."""
    return ([str(20 + seed % 50), str(seed)] for seed in range(count))


def expected(count: int) -> list[Result]:
    """The results of one machine."""
    machine = kvrm.Machine(QUICKSORT, lanes=count, engine="jit", arguments=list(inputs(count)))
    machine.run()
    steps = machine.registers["steps"]
    lanes = zip(machine.stops, machine.outputs(), strict=True)
    return [Result(lane, stop, int(steps[lane]), out, b"", {}) for lane, (stop, out) in enumerate(lanes)]


def test_results_are_those_of_one_machine_whatever_the_batches() -> None:
    for seconds, lanes_max in [(0.01, 1000), (10.0, 7), (10.0, 1 << 16)]:
        results = map_lanes(QUICKSORT, inputs(500), workers=0, engine="jit", seconds=seconds, lanes_max=lanes_max)
        assert list(results) == expected(500)


def test_batches_grow_to_the_wanted_time_and_end_with_the_inputs() -> None:
    batches = list(map_batches(ADD, (Input() for _ in range(1000)), workers=0, engine="jit", seconds=60.0))
    assert [len(batch) for batch in batches] == [64, 512, 424]
    assert [batch.first for batch in batches] == [0, 64, 576]
    assert list(map_batches(ADD, [], workers=0, engine="jit")) == []


def test_inputs_set_registers_and_memory() -> None:
    load = kvrm.Program.raw(bytes.fromhex("0100 40f9 0000 40d4".replace(" ", "")), 0x1000, 0x2000)
    lanes = [Input(registers={"x0": 0x2000}, memory={0x2000: bytes([lane] * 8)}) for lane in range(100)]
    results = list(map_lanes(load, lanes, workers=0, engine="jit", registers=["x1", "x0"]))
    assert [r.registers["x1"] for r in results] == [0x0101010101010101 * lane for lane in range(100)]
    with pytest.raises(ValueError, match="input 1 writes 2 bytes at 0x2000, and input 0 1: expected the same number"):
        list(map_lanes(load, [Input(memory={0x2000: b"1"}), Input(memory={0x2000: b"22"})], workers=0, engine="jit"))
    for other in ({}, {"x0": 1, "x1": 2}):
        with pytest.raises(ValueError, match=r"input 1 sets the registers \[.*\], and input 0 \['x0'\]"):
            list(map_lanes(load, [Input(registers={"x0": 1}), Input(registers=other)], workers=0, engine="jit"))
    with pytest.raises(TypeError, match="input '12': expected bytes"):
        list(map_lanes(load, ["12"], workers=0, engine="jit"))


def test_inputs_are_read_when_results_are_wanted() -> None:
    read = 0

    def count() -> Iterator[Input]:
        nonlocal read
        for _ in range(10_000):
            read += 1
            yield Input()

    batches = map_batches(ADD, count(), workers=0, engine="jit", lanes_max=100)
    next(batches)
    assert read == 64
    next(batches)
    assert read == 164


def test_workers_give_the_same_results(cluster: None) -> None:
    seen: list[int] = []
    results = map_lanes(QUICKSORT, inputs(2000), workers=2, engine="jit", lanes_max=100, progress=seen.append)
    assert list(results) == expected(2000)
    assert seen[-1] == 2000 and seen == sorted(seen)


def test_batches_of_workers_that_are_lost_are_repeated(cluster: None) -> None:
    lost: set[int] = set()
    is_over = threading.Event()

    def lose_workers() -> None:
        while not is_over.wait(0.7):
            for process in psutil.process_iter(["cmdline"]):
                command = " ".join(process.info["cmdline"] or [])
                if command.startswith("ray::_Worker") and process.pid not in lost:
                    lost.add(process.pid)
                    os.kill(process.pid, signal.SIGKILL)
                    break

    thread = threading.Thread(target=lose_workers)
    thread.start()
    try:
        deadline = time.monotonic() + 300  # workers begin slowly on a busy host
        results: list[Result] = []
        for batch in map_batches(QUICKSORT, inputs(4000), workers=2, engine="jit", lanes_max=50):
            results.extend(batch)
            # The workers are busy until two of them were lost.
            while len(lost) < 2 and len(results) > 200 and time.monotonic() < deadline:
                time.sleep(0.1)
    finally:
        is_over.set()
        thread.join()
    assert len(lost) >= 2
    assert results == expected(4000)


def test_an_error_of_a_worker_is_raised(cluster: None) -> None:
    with pytest.raises(ray.exceptions.RayTaskError, match='feature "sve"'):
        list(map_lanes(ADD, [b""] * 3, workers=1, engine="jit", features=["sve"]))


def test_a_batch_can_be_seen_as_columns() -> None:
    (batch,) = map_batches(ADD, [Input(registers={"x0": 4})], workers=0, engine="jit", registers=["x0"])
    assert isinstance(batch, Batch) and batch.registers["x0"].tolist() == [5]
    assert (batch.stops == "halt").all() and batch.steps.tolist() == [1] and batch.outputs == [b""]
