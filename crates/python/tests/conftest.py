"""What tests share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import ray

import kvrm
from kvrm.engine import EngineName

GUESTS = Path(__file__).parents[3] / "guests" / "bin"
"""Prebuilt guest programs."""
EXAMPLES = Path(__file__).parents[1] / "examples"
"""Programs that show how the package is used."""
WEIGHTS = Path(__file__).parents[3] / "weights"
"""The trained weights."""

DOOM = Path(os.environ.get("KVRM_DOOM", "target/programs/doom"))
"""The game, if somebody has built it."""


def turns_meanwhile(run: Callable[[], object]) -> int:
    """Returns how often another thread has had a turn while a function ran."""
    is_over = False
    turns = 0

    def count() -> None:
        nonlocal turns
        while not is_over:
            turns += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    run()
    before, is_over = turns, True
    thread.join()
    return before


def interrupt(script: str, seconds: float) -> tuple[int, str]:
    """Runs a script that prints a line when it begins its work, and sends it SIGINT so many seconds later.

    Returns its status and the rest of its output.
    """
    # A shell that starts the tests in the background ignores the signal.
    script = f"import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n{script}"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline()
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


@pytest.fixture(scope="session")
def sieve() -> kvrm.Program:
    """A program that counts the primes below its first argument."""
    return kvrm.Program.open(GUESTS / "sieve.elf")


@pytest.fixture(scope="session", params=["jit", "reference", "gpu"])
def engine(request: pytest.FixtureRequest) -> kvrm.OpenEngine:
    """Each engine."""
    name: EngineName = request.param
    return kvrm.Engine(name).open()


@pytest.fixture(scope="session")
def cluster() -> Iterator[None]:
    """A Ray cluster of this host."""
    # Workers import the examples, too.
    found = {"env_vars": {"PYTHONPATH": str(EXAMPLES)}}
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, runtime_env=found)
    yield
    ray.shutdown()
