"""What tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

import kvrm
from kvrm.engine import EngineName

GUESTS = Path(__file__).parents[3] / "guests" / "bin"
"""Prebuilt guest programs."""
WEIGHTS = Path(__file__).parents[3] / "weights"
"""The trained weights."""


@pytest.fixture(scope="session")
def sieve() -> kvrm.Program:
    """A program that counts the primes below its first argument."""
    return kvrm.Program.open(GUESTS / "sieve.elf")


@pytest.fixture(scope="session", params=["jit", "reference", "gpu"])
def engine(request: pytest.FixtureRequest) -> kvrm.OpenEngine:
    """Each engine."""
    name: EngineName = request.param
    return kvrm.Engine(name).open()
