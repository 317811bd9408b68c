"""The report of a run."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Report:
    """The report of a run of a machine. ``print(report)`` shows a line for each figure."""

    engine: str
    """``gpu``, ``jit`` or ``reference``."""
    device: str | None
    """The GPU; ``None`` on the CPU."""
    lanes: int
    steps: int
    """The instructions that all lanes together have retired in this run."""
    stops: dict[str, int]
    """The number of lanes with each kind of stop."""
    services: int
    """The number of calls that were served."""
    dispatches: int
    """The number of dispatches on a GPU; 0 on the CPU."""
    frames: int
    """The number of frames of 4096 bytes that all lanes own after the run."""
    wall_seconds: float
    """The time of the run, in seconds."""
    unknown_calls: dict[int, int] = field(default_factory=dict)
    """How often each system call was made that KVRM does not know, by its number."""
    refused_calls: dict[int, int] = field(default_factory=dict)
    """How often each system call was made that KVRM refuses, by its number."""
    decisions: dict[str, Any] | None = None
    """The decisions of the network that names classes: mode, network, and for each class how often it was asked and wrong."""
    translation: dict[str, Any] | None = None
    """The translation of hot code."""
    loops: dict[str, Any] | None = None
    """The acceleration of loops."""
    frame_moves: dict[str, int] | None = None
    """The frames that moved between device and host, and how often lanes waited; ``None`` if frames do not move."""
    warnings: list[str] = field(default_factory=list)
    """The failures of the host that the lanes have survived, such as that of a write to ``host_file``."""
    text: str = field(default="", repr=False, compare=False)

    @property
    def steps_per_second(self) -> float:
        """The steps of all lanes together, divided by the time of the run."""
        return self.steps / max(self.wall_seconds, 1e-9)

    def __str__(self) -> str:
        return self.text


def from_json(text_json: str, text: str) -> Report:
    """Returns the report that was written as JSON by Rust, with its text."""
    fields = json.loads(text_json)
    for name in ("unknown_calls", "refused_calls"):
        fields[name] = {int(number): count for number, count in fields.get(name, {}).items()}
    names = Report.__dataclass_fields__
    # A later version of the native module may report more.
    return Report(text=text, **{name: value for name, value in fields.items() if name in names})
