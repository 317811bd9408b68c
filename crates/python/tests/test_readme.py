"""The examples in the README of the package and in that of the repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import kvrm
from conftest import DOOM

PACKAGE = Path(__file__).parents[1]
REPOSITORY = PACKAGE.parents[1]

EXAMPLES = [
    pytest.param(match.group(1), id=f"{path.parent.name}-{number}")
    for path in (REPOSITORY / "README.md", PACKAGE / "README.md")
    for number, match in enumerate(re.finditer(r"^```python\n(.*?)^```$", path.read_text(), re.DOTALL | re.MULTILINE), 1)
]

SHORTER = {
    "range(1000) for seed in range(1000)": "range(20) for seed in range(20)",
    "num_envs=1024": "num_envs=4",
    "lanes=1000, engine=engine).run()": "lanes=2, engine=engine).run(1000)",
}
"""What takes long, and what is run instead."""


def test_what_is_shortened_is_in_the_examples() -> None:
    codes = [example.values[0] for example in EXAMPLES]
    assert all(any(written in str(code) for code in codes) for written in SHORTER)


@pytest.fixture
def values() -> dict[str, object]:
    """What examples use without making it."""
    program = kvrm.Program.open(REPOSITORY / "guests" / "bin" / "quicksort.elf")
    machine = kvrm.Machine(program, lanes=1000, engine="jit")
    return {
        "kvrm": kvrm,
        "program": program,
        "machine": machine,
        "inputs": np.arange(2000, dtype=np.uint64).reshape(1000, 2),
        "values": kvrm.Weights.builtin("dispatch").values,
        "weights": kvrm.Weights.builtin("dispatch").values,
    }


@pytest.fixture
def at_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder with the guests, in which examples may write files."""
    (tmp_path / "guests").symlink_to(REPOSITORY / "guests")
    monkeypatch.chdir(tmp_path)
    yield


@pytest.mark.usefixtures("at_repository")
@pytest.mark.parametrize("code", EXAMPLES)
def test_examples_run(cluster: None, code: str, values: dict[str, object]) -> None:
    if "Doom" in code and not DOOM.exists():
        pytest.skip("the game is not built")
    for written, shorter in SHORTER.items():
        code = code.replace(written, shorter)
    exec(compile(code, "README.md", "exec"), values)
