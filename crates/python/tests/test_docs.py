"""The examples in the documentation of the package."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import kvrm

MODULES = ["kvrm", *(f"kvrm.{module.name}" for module in pkgutil.iter_modules(kvrm.__path__))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.failed == 0
