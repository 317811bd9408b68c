"""Runs many copies of an ARM64 program at once, on a GPU or on the CPU, with exactly the same results on both.

>>> import kvrm
>>> program = kvrm.Program.from_words([0x91000400, 0xd4400000])  # add x0, x0, #1; hlt #0
>>> machine = kvrm.Machine(program, lanes=1000)
>>> report = machine.run()
>>> (machine.stops == "halt").all()
np.True_
"""

from . import networks, spiking
from .engine import Adapter, Engine, OpenEngine, adapters
from .errors import EngineError, Error, RecordingOverflow
from .machine import Hooks, Machine, Progress, Registers, TraceStep
from .program import Instruction, Program, Segment, Symbol, disassemble
from .report import Report
from .stops import Stop, Stops
from .weights import Weights

__all__ = [
    "Adapter",
    "Engine",
    "EngineError",
    "Error",
    "Hooks",
    "Instruction",
    "Machine",
    "OpenEngine",
    "Program",
    "Progress",
    "RecordingOverflow",
    "Registers",
    "Report",
    "Segment",
    "Stop",
    "Stops",
    "Symbol",
    "TraceStep",
    "Weights",
    "adapters",
    "disassemble",
    "networks",
    "spiking",
]
