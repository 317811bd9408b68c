"""Runs scripts that were written for the module ``kvrm_metal`` of the original KVRM, with exact results, on any GPU or on the CPU.

Names and arguments are those of the original. What differs is said at each of them. New programs are better written with
:mod:`kvrm`, on which this module stands.

>>> import kvrm_metal
>>> cpu = kvrm_metal.PyNeuralMetalCPU(num_lanes=1, memory_size=1 << 20)
>>> cpu.write_memory_u32(0x1000, 0xD2800540)  # movz x0, #42
>>> cpu.set_pc(0, 0x1000)
>>> result = cpu.execute(100)
>>> cpu.get_register(0, 0), result.cycles, hex(result.final_pc)
(42, 1, '0x1004')
>>> str(result.stop)
'undefined instruction 0x00000000'
"""

from .cpu import ExecutionResult, PyNeuralMetalCPU, PyPureGPUCPU
from .weights import ModelWeights, NeuralWeightCollection, UnusedWeightsWarning

__all__ = [
    "ExecutionResult",
    "ModelWeights",
    "NeuralWeightCollection",
    "PyNeuralMetalCPU",
    "PyPureGPUCPU",
    "UnusedWeightsWarning",
]
