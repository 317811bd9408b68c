"""Measures many inputs on the workers of a Ray cluster of this host, some of which are killed, against one process.

Prints the time of each, and fails if any result is missing, there twice, or different.

    python benchmarks/many_inputs.py --inputs 1000000 --workers 4 --kill-every 20
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import ray

import kvrm
from kvrm.distributed import map_batches

GUEST = Path(__file__).parents[3] / "guests" / "bin" / "quicksort.elf"


def inputs(count: int, size: int) -> Iterator[list[str]]:
    """Sizes and seeds."""
    return ([str(size), str(seed)] for seed in range(count))


def run(arguments: argparse.Namespace, workers: int) -> tuple[float, str, int]:
    """Returns the time in seconds, hashes of all results in their order, and the number of batches."""
    program = kvrm.Program.open(GUEST)
    # Columns of all results, whatever their batches.
    values, steps, outputs = (hashlib.sha256() for _ in range(3))
    begin, expected, batches = time.perf_counter(), 0, 0
    for batch in map_batches(
        program, inputs(arguments.inputs, arguments.size), workers=workers, engine=arguments.engine, seconds=arguments.seconds
    ):
        if batch.first != expected:
            sys.exit(f"input {expected} is missing, or {batch.first} is there twice")
        expected += len(batch)
        batches += 1
        values.update(batch.stops.values.tobytes())
        steps.update(batch.steps.tobytes())
        outputs.update(b"".join(output + b"\0" for output in batch.outputs))
    if expected != arguments.inputs:
        sys.exit(f"{expected} results for {arguments.inputs} inputs")
    digest = "".join(column.hexdigest() for column in (values, steps, outputs))
    return time.perf_counter() - begin, digest, batches


def kill(every: float, is_over: threading.Event, killed: list[int]) -> None:
    """Kills a worker now and then."""
    while not is_over.wait(every):
        names = ((process, " ".join(process.info["cmdline"] or [])) for process in psutil.process_iter(["cmdline"]))
        workers = [process.pid for process, name in names if name.startswith("ray::_Worker")]
        if workers:
            killed.append(random.choice(workers))
            os.kill(killed[-1], signal.SIGKILL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=100, help="the numbers that each lane sorts")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--engine", default="jit")
    parser.add_argument("--seconds", type=float, default=2.0, help="the time of a batch")
    parser.add_argument("--kill-every", type=float, default=20.0, metavar="SECONDS")
    arguments = parser.parse_args()

    alone, expected, batches = run(arguments, 0)
    print(f"one process: {alone:.1f} s, {batches} batches", flush=True)
    ray.init(num_cpus=arguments.workers, include_dashboard=False, log_to_driver=False)
    together, result, batches = run(arguments, arguments.workers)
    print(f"{arguments.workers} workers: {together:.1f} s, {batches} batches, {100 * (together / alone - 1):+.1f} %", flush=True)
    is_over, killed = threading.Event(), list[int]()
    thread = threading.Thread(target=kill, args=(arguments.kill_every, is_over, killed))
    thread.start()
    disturbed, again, batches = run(arguments, arguments.workers)
    is_over.set()
    thread.join()
    print(f"{arguments.workers} workers, of which {len(killed)} were killed: {disturbed:.1f} s, {batches} batches", flush=True)
    if not expected == result == again:
        sys.exit("the results differ")
    print("all results are the same")


if __name__ == "__main__":
    main()
