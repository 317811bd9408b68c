"""Measures what Python adds to a run, and to reading a register of all lanes.

The time of a run in Rust is that of its report. A register is read twice after a run: the first time it is transferred from the
device, the second time it is only copied into an array.

    python benchmarks/overhead.py --engine gpu --lanes 16384,131072
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import kvrm

GUEST = Path(__file__).parents[3] / "guests" / "bin" / "mix.elf"


def measure(engine: kvrm.OpenEngine, lanes: int, budget: int) -> None:
    """Prints the times of five runs."""
    machine = kvrm.Machine(kvrm.Program.open(GUEST), lanes=lanes, engine=engine, arguments=["1000000000"])
    machine.run(budget)
    added, wall, first, second = [], [], [], []
    for _ in range(5):
        begin = time.perf_counter()
        report = machine.run(budget)
        ran = time.perf_counter()
        machine.registers["x3"]
        transferred = time.perf_counter()
        machine.registers["x3"]
        copied = time.perf_counter()
        wall.append(report.wall_seconds)
        added.append(ran - begin - report.wall_seconds)
        first.append(transferred - ran)
        second.append(copied - transferred)
    median = statistics.median
    share = 100 * median(added) / median(wall)
    print(
        f"{lanes:>8} lanes: run {median(wall):.3f} s, and {1e3 * median(added):.2f} ms more in Python ({share:.2f} %); "
        f"register {1e3 * median(first):.2f} ms, again {1e3 * median(second):.2f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--lanes", default="16384,131072")
    parser.add_argument("--budget", type=int, default=1_000_000)
    arguments = parser.parse_args()
    engine = kvrm.Engine(arguments.engine).open()
    print(engine.device or engine.name)
    for lanes in arguments.lanes.split(","):
        measure(engine, int(lanes), arguments.budget)


if __name__ == "__main__":
    main()
