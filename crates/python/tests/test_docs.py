"""The examples in the documentation of the packages."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import kvrm
import kvrm_metal

MODULES = [
    name
    for package in (kvrm, kvrm_metal)
    for name in (
        package.__name__,
        *(module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")),
    )
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name: str) -> None:
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.failed == 0
