"""Runs a lane for each row of a dataset of Ray Data, and writes the results to Parquet.

It needs `pip install 'kvrm[ray]' 'ray[data]'`. `kvrm.distributed.map_lanes` is simpler where inputs come from an iterator, and repeats only
the batch of a worker that is lost; a dataset can be read from and written to anything that Ray Data knows.

    python examples/ray_data.py --rows 100000 --workers 4 --output results
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import ray.data
from numpy.typing import NDArray

import kvrm
from kvrm.engine import EngineName

GUEST = Path(__file__).parents[3] / "guests" / "bin" / "quicksort.elf"

Rows = dict[str, NDArray[Any]]


class Lanes:
    """Runs a lane for each row of a batch. Each worker has one, so it opens its engine once."""

    def __init__(self, program: kvrm.Program, engine: EngineName, size: int) -> None:
        self.program = program
        self.engine = kvrm.Engine(engine).open()
        self.size = size

    def __call__(self, rows: Rows) -> Rows:
        """Sorts random numbers, which follow from the column `seed`. The columns `stop`, `steps` and `output` are added."""
        seeds = rows["seed"]
        arguments = [[str(self.size), str(seed)] for seed in seeds]
        machine = kvrm.Machine(self.program, lanes=len(seeds), engine=self.engine, arguments=arguments)
        machine.run(100_000_000)
        return {
            **rows,
            "stop": np.array([str(stop) for stop in machine.stops]),
            "steps": machine.registers["steps"].astype(np.int64),
            "output": np.array([output.decode() for output in machine.outputs()]),
        }


def sort(rows: int, workers: int, engine: EngineName = "jit", size: int = 100, batch: int = 4096) -> ray.data.Dataset:
    """Returns the dataset of results, which are computed when they are read."""
    seeds = ray.data.range(rows, override_num_blocks=max(1, rows // batch)).rename_columns({"id": "seed"})
    results: ray.data.Dataset = seeds.map_batches(
        Lanes,
        fn_constructor_args=(kvrm.Program.open(GUEST), engine, size),
        batch_size=batch,
        batch_format="numpy",
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=1,
        # Each worker has one CPU. On GPUs, it would be `num_gpus=1` and the engine `gpu`.
        runtime_env={"env_vars": {"RAYON_NUM_THREADS": "1"}},
    )
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--engine", default="jit")
    parser.add_argument("--size", type=int, default=100, help="the numbers that each lane sorts")
    parser.add_argument("--output", type=Path, help="a folder for Parquet files")
    arguments = parser.parse_args()

    ray.init(num_cpus=arguments.workers + 1, include_dashboard=False)
    results = sort(arguments.rows, arguments.workers, arguments.engine, arguments.size).materialize()
    print(results.schema())
    print("stops:", results.unique("stop"))
    print("steps:", results.min("steps"), "to", results.max("steps"), "and", results.mean("steps"), "on average")
    if arguments.output:
        results.write_parquet(str(arguments.output.absolute()))
        print(f"{results.count()} rows written to {arguments.output}")


if __name__ == "__main__":
    main()
