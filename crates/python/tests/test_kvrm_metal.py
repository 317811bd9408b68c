"""The names of the original, with exact results."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import kvrm
import kvrm_metal
from conftest import WEIGHTS
from kvrm import _native
from kvrm.engine import EngineName
from kvrm_metal import ModelWeights, NeuralWeightCollection, PyNeuralMetalCPU, PyPureGPUCPU

MEMORY = 1 << 24
START = 0x1000

CLASSES = [
    (0x91000C00, "ARITHMETIC"),  # add x0, x0, #3
    (0xAA000001, "LOGICAL"),  # orr x1, x0, x0
    (0xF90003E1, "LOADSTORE"),  # str x1, [sp]
    (0x14000002, "BRANCH"),  # b 0x1014
    (0xD4400000, "SYSTEM"),  # hlt #0, which the branch skips
    (0x9B007C22, "MULDIV"),  # mul x2, x1, x0
    (0xD37DF043, "EXTEND_SHIFT"),  # lsl x3, x2, #3
    (0xD503201F, "SYSTEM"),  # nop
]
"""A program with an instruction of each class. Behind it are zeros."""

STEPS = len(CLASSES) - 1


def loaded(cpu: PyNeuralMetalCPU | PyPureGPUCPU) -> PyNeuralMetalCPU | PyPureGPUCPU:
    """Loads the program with all classes: lanes begin at its first, second and third instruction, and differ in x0."""
    for place, (word, _) in enumerate(CLASSES):
        cpu.write_memory_u32(START + 4 * place, word)
    for lane in range(cpu.get_num_lanes()):
        cpu.set_pc(lane, START + 4 * lane)
        cpu.set_register(lane, 0, 10 * lane + 4)
        cpu.set_register(lane, 31, 0x10000)
    return cpu


def assert_exact(cpu: PyNeuralMetalCPU | PyPureGPUCPU, result: kvrm_metal.ExecutionResult) -> None:
    """Checks the state at the end of the program with all classes in three lanes."""
    # Lane 0 adds 3 to 4. Lane 2 begins behind the instruction that sets x1.
    states = [(7, 7, 49, 392), (14, 14, 196, 1568), (24, 0, 0, 0)]
    for lane, state in enumerate(states):
        assert tuple(cpu.get_register(lane, number) for number in range(4)) == state
        assert int.from_bytes(cpu.read_memory(0x10000, 8, lane), "little") == state[1]
    assert result.lane_cycles.tolist() == [STEPS, STEPS - 1, STEPS - 2]
    assert result.final_pcs.tolist() == [START + 4 * len(CLASSES)] * 3
    assert list(result.stops) == [kvrm.Stop("undefined", 0)] * 3
    assert (result.cycles, result.final_pc) == (STEPS, START + 4 * len(CLASSES))


@pytest.mark.parametrize("kind", [PyNeuralMetalCPU, PyPureGPUCPU])
def test_the_sample_gives_42(
    kind: type[PyNeuralMetalCPU | PyPureGPUCPU], engine: kvrm.OpenEngine
) -> None:
    cpu = kind(num_lanes=1, memory_size=MEMORY, engine=engine.options)
    cpu.write_memory(START, [0x40, 0x05, 0x80, 0xD2])  # movz x0, #42
    cpu.set_pc(0, START)
    result = cpu.execute(max_cycles=100)
    assert cpu.get_register(0, 0) == 42
    assert (result.cycles, result.final_pc, cpu.get_pc(0)) == (1, START + 4, START + 4)
    assert (result.stop, result.stop_reason) == (kvrm.Stop("undefined", 0), 1)
    assert result.report.engine == engine.name
    # It has stopped for good.
    assert cpu.execute(100).cycles == 0


def test_another_sample_runs_for_as_many_cycles_as_it_may() -> None:
    cpu = PyNeuralMetalCPU(4, MEMORY)
    # movz x0, #42; movz x1, #26; mov x2, x0; ldr x3, [sp]; str x4, [sp, #8]; b . ; sub x1, x1, #1
    words = [0xD2800540, 0xD2800341, 0xAA0003E2, 0xF94003E3, 0xF90007E4, 0x14000000, 0xD1000421]
    for place, word in enumerate(words):
        cpu.write_memory_u32(START + 4 * place, word)
    cpu.set_pc(0, START)
    cpu.set_register(0, 31, 0x10000)
    result = cpu.execute(5)
    assert (result.cycles, result.final_pc, result.stop_reason) == (5, START + 20, 3)
    assert cpu.execute(7).cycles == 7 and cpu.get_pc(0) == START + 20
    assert [cpu.get_register(0, number) for number in (0, 1, 2, 31)] == [42, 26, 42, 0x10000]
    # The others were at address 0, where there are zeros.
    assert result.lane_cycles.tolist() == [5, 0, 0, 0]


def test_each_class_is_in_the_program() -> None:
    decoded = [_native.decode(word) for word, _ in CLASSES]
    assert [found and found[1] for found in decoded] == [name for _, name in CLASSES]
    assert len({name for _, name in CLASSES}) == 7


def test_all_classes_are_exact_in_lanes_at_different_places(engine: kvrm.OpenEngine) -> None:
    cpu = loaded(PyNeuralMetalCPU(3, MEMORY, engine=engine.options))
    assert_exact(cpu, cpu.execute(1000))


def test_a_budget_is_exact_and_executions_go_on() -> None:
    cpu = loaded(PyPureGPUCPU(3, MEMORY))
    total = np.zeros(3, np.uint64)
    for _ in range(STEPS + 1):
        result = cpu.execute(1)
        total += result.lane_cycles
    assert total.tolist() == [STEPS, STEPS - 1, STEPS - 2]
    assert cpu.get_register(1, 3) == 1568


def test_a_dispatch_network_is_asked_in_each_step() -> None:
    values = kvrm.Weights.load(WEIGHTS / "dispatch.safetensors").values
    collection = NeuralWeightCollection()
    collection.set_embedding_weights(ModelWeights(weights=values.tolist(), shape=[10279]))
    cpu = loaded(PyNeuralMetalCPU(3, MEMORY))
    cpu.load_embedding_weights(collection)
    result = cpu.execute(1000)
    assert_exact(cpu, result)
    assert result.report.engine == "gpu"
    decisions = result.report.decisions
    assert decisions is not None and decisions["mode"] == "network"
    assert decisions["tuples_right"] == decisions["tuples"] == 1 << 20
    # Each of the seven classes was named, and no answer was wrong. A word of zeros is of the class SYSTEM, too.
    asked = {row["class"]: row["asked"] for row in decisions["classes"]}
    assert min(asked.values()) > 0 and len(asked) == 7
    assert [row["mispredicted"] for row in decisions["classes"]] == [0] * 7


def test_results_do_not_depend_on_the_weights_of_a_dispatch_network() -> None:
    random = np.random.default_rng(3)
    cpu = loaded(PyPureGPUCPU(3, MEMORY))
    cpu.execute(2)
    # The weights are used from here on.
    cpu.load_dispatch_weights(random.normal(size=135))
    result = cpu.execute(1000)
    decisions = result.report.decisions
    assert decisions is not None and decisions["network"].startswith("small-dispatch")
    assert sum(row["mispredicted"] for row in decisions["classes"]) > 0
    assert cpu.get_register(1, 3) == 1568
    assert result.lane_cycles.tolist() == [STEPS - 2, STEPS - 3, STEPS - 4]


def test_a_dispatch_network_needs_a_gpu() -> None:
    cpu = PyNeuralMetalCPU(1, MEMORY, engine="jit")
    with pytest.raises(kvrm.Error, match='embedding weights need a GPU: .* but engine "jit" is the CPU'):
        cpu.load_dispatch_weights(kvrm.Weights.builtin("dispatch"))
    # It goes on without the weights.
    assert cpu.execute(1).report.decisions is None


@pytest.mark.skipif(sys.platform != "linux", reason="only there, variables hide the drivers of GPUs")
def test_a_host_without_a_gpu_is_named() -> None:
    script = """
import kvrm, kvrm_metal
cpu = kvrm_metal.PyNeuralMetalCPU(1, 4096)
try:
    cpu.load_embedding_weights(kvrm.Weights.builtin("dispatch"))
except kvrm.EngineError as error:
    print(error)
cpu.write_memory_u32(0, 0xD2800540)
print(cpu.execute(9).cycles, cpu.get_register(0, 0), cpu.engine.name)
"""
    hidden = {"VK_ICD_FILENAMES": "/nonexistent", "VK_DRIVER_FILES": "/nonexistent"}
    run = [sys.executable, "-c", script]
    output = subprocess.run(run, capture_output=True, check=True, text=True, env={**os.environ, **hidden}).stdout
    error, result = output.splitlines()
    assert error.startswith("embedding weights need a GPU: there is no GPU") and result == "1 42 jit"


@pytest.mark.parametrize("name", ["jit", "gpu"])
def test_networks_propose_loops(name: EngineName) -> None:
    cpu = PyNeuralMetalCPU(2, MEMORY, engine=name)
    # movz x0, #0x200, lsl #32; add x1, x1, #2; subs x0, x0, #1; b.ne to the addition
    words = np.array([0xD2C04000, 0x91000821, 0xF1000400, 0x54FFFFC1], "<u4")
    cpu.write_memory(START, words.tobytes())
    for lane in range(2):
        cpu.set_pc(lane, START)
    cpu.execute(1)
    cpu.load_loop_weights(kvrm.Weights.builtin("loop-detector").values)
    cpu.load_pattern_weights(kvrm.Weights.builtin("pattern-recogniser"))
    result = cpu.execute(3 << 32)
    assert cpu.get_register(1, 1) == 2 << 32
    assert result.lane_cycles.tolist() == [3 << 32] * 2 and result.final_pc == START + 4
    loops = result.report.loops
    assert loops is not None and (loops["mode"], loops["advised"], loops["disagreed"]) == ("networks", 1, 0)


def test_weights_that_nothing_uses_are_checked_and_warned_about() -> None:
    cpu = PyNeuralMetalCPU(1, MEMORY)
    with pytest.warns(kvrm_metal.UnusedWeightsWarning, match="memory oracle weights are right, but no run uses them"):
        cpu.load_memory_weights(np.zeros(271_124))
    with pytest.raises(kvrm.Error, match="memory oracle weights: .*expected 271124 values .* found 271000"):
        cpu.load_memory_weights(np.zeros(271_000))


def test_a_machine_keeps_its_state_when_weights_are_loaded() -> None:
    cpu = loaded(PyNeuralMetalCPU(3, MEMORY, engine="jit"))
    cpu.execute(4)
    cpu.write_memory(0x2000, b"after the run")
    cpu.machine.registers["v3"] = [[1, 2], [3, 4], [5, 6]]
    cpu.load_loop_weights(kvrm.Weights.builtin("loop-detector"))
    assert cpu.read_memory(0x2000, 13, 2) == b"after the run"
    assert cpu.machine.registers["v3"].tolist() == [[1, 2], [3, 4], [5, 6]]
    result = cpu.execute(1000)
    assert result.lane_cycles.tolist() == [STEPS - 4, STEPS - 5, STEPS - 6]
    assert cpu.machine.registers["steps"].tolist() == [STEPS, STEPS - 1, STEPS - 2]
    assert [cpu.get_register(lane, 3) for lane in range(3)] == [392, 1568, 0]


@pytest.mark.parametrize(
    ("name", "parameters", "architecture"),
    [
        ("dispatch", 135, "small-dispatch"),
        ("embedding", 10_279, "dispatch"),
        ("loop_detector", 1_083_397, "loop-detector"),
        ("memory_oracle", 271_124, "memory-oracle"),
        ("pattern_recognizer", 508_161, "pattern-recogniser"),
    ],
)
def test_a_collection_checks_weights(name: str, parameters: int, architecture: str) -> None:
    collection = NeuralWeightCollection()
    put = getattr(collection, f"set_{name}_weights")
    said = f"{name.replace('_', ' ')} weights: "
    with pytest.raises(kvrm.Error, match=f"{said}.*expected {parameters} values for {architecture}, found 7"):
        put(ModelWeights(np.ones(7), [7]))
    with pytest.raises(kvrm.Error, match=rf"{said}expected shape \[{parameters}\], .* found \[{parameters}, 1\]"):
        put(ModelWeights(np.ones(parameters), [parameters, 1]))
    with pytest.raises(kvrm.Error, match=f"{said}.*expected finite values .* found NaN at index 0"):
        put(ModelWeights(np.full(parameters, np.nan), [parameters]))
    assert getattr(collection, f"{name}_weights") is None and collection.total_params() == 0
    weights = ModelWeights(np.ones(parameters), [parameters])
    put(weights)
    assert getattr(collection, f"{name}_weights") is weights and collection.total_params() == parameters


def test_a_collection_is_complete_with_three_networks() -> None:
    collection = NeuralWeightCollection()
    collection.set_dispatch_weights(ModelWeights(np.ones(135), [135]))
    collection.set_loop_detector_weights(ModelWeights(np.ones(1_083_397), (1_083_397,)))
    assert not collection.is_complete()
    collection.set_memory_oracle_weights(ModelWeights(np.ones(271_124), [271_124]))
    assert collection.is_complete() and collection.total_params() == 135 + 1_083_397 + 271_124
    with pytest.raises(kvrm.Error, match="embedding weights: the collection has none"):
        PyNeuralMetalCPU(1, MEMORY).load_embedding_weights(collection)


def test_model_weights_have_as_many_values_as_their_shape() -> None:
    shapes: list[list[int]] = [[7], [2, 4], [-2, -3], []]
    weights = ModelWeights([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]], [2, 3])
    assert (weights.size(), weights.total_params(), weights.shape) == (6, 6, [2, 3])
    assert weights.weights.tolist() == [1, 2, 3, 4, 5, 6.5]
    for shape in shapes:
        with pytest.raises(kvrm.Error, match="there are 6 values"):
            ModelWeights(range(6), shape)
    with pytest.raises(TypeError, match="expected numbers"):
        ModelWeights(["a"], [1])


@pytest.mark.parametrize(
    ("weights", "error", "text"),
    [
        ([0.5] * 136, kvrm.Error, "embedding weights: .*expected 10279 values for dispatch, found 136"),
        ([[0.5] * 10_279], ValueError, r"embedding weights: values of shape \(1, 10279\)"),
        ([1e39] * 135, kvrm.Error, "dispatch weights: .*`fc1.weight`: expected finite values"),
        ("weights", TypeError, "embedding weights: values of type <U7: expected numbers"),
        (NeuralWeightCollection(), kvrm.Error, "embedding weights: the collection has none"),
    ],
)
def test_wrong_weights_are_refused(weights: Any, error: type[Exception], text: str) -> None:
    cpu = PyPureGPUCPU(1, MEMORY)
    with pytest.raises(error, match=text):
        cpu.load_dispatch_weights(weights)


def test_weights_of_another_network_are_refused() -> None:
    cpu = PyPureGPUCPU(1, MEMORY)
    decoder = kvrm.Weights.builtin("decoder")
    with pytest.raises(kvrm.Error, match="expected those of dispatch, found those of decoder"):
        cpu.load_dispatch_weights(decoder)
    with pytest.raises(kvrm.Error, match="expected those of loop-detector, found those of decoder"):
        cpu.load_loop_weights(decoder)


def test_registers_are_signed_and_sp_is_31() -> None:
    cpu = PyNeuralMetalCPU(2, MEMORY)
    assert [cpu.get_register(1, number) for number in range(32)] == [0] * 32
    for is_new in (True, False):
        cpu.set_register(1, 0, -5)
        cpu.set_register(1, 30, (1 << 64) - 1)
        cpu.set_register(1, 31, 1 << 63)
        assert [cpu.get_register(1, number) for number in (0, 30, 31)] == [-5, -1, -(1 << 63)]
        assert cpu.get_register(0, 31) == 0
        if is_new:
            cpu.execute(1)
    for number in (-1, 32):
        with pytest.raises(kvrm.Error, match="expected 0 to 30, or 31 for sp"):
            cpu.get_register(0, number)
    for lane in (-1, 2):
        with pytest.raises(IndexError, match=f"lane {lane} of 2"):
            cpu.set_pc(lane, 0)


def test_lanes_have_memory_of_their_own() -> None:
    cpu = PyNeuralMetalCPU(2, 1 << 16)
    cpu.write_memory(0x100, b"shared")
    assert cpu.read_memory(0x100, 8) == b"shared\0\0"
    cpu.write_memory_u32(START, 0x39000020)  # strb w0, [x1]
    for lane in range(2):
        cpu.set_pc(lane, START)
        cpu.set_register(lane, 0, ord("A") + lane)
        cpu.set_register(lane, 1, 0x100)
    cpu.execute(10)
    assert [cpu.read_memory(0x100, 6, lane) for lane in range(2)] == [b"Ahared", b"Bhared"]
    # Code can be replaced between two runs.
    cpu.write_memory_u32(START, 0xD2800540)  # movz x0, #42
    cpu.set_pc(1, START)
    cpu.execute(10)
    assert [cpu.get_register(lane, 0) for lane in range(2)] == [ord("A"), 42]


def test_the_memory_has_an_end() -> None:
    cpu = PyNeuralMetalCPU(1, 0x3000)
    for is_new in (True, False):
        with pytest.raises(kvrm.Error, match="write of 4 bytes at 0x2ffd: the memory has 0x3000 bytes"):
            cpu.write_memory_u32(0x2FFD, 1)
        with pytest.raises(kvrm.Error, match="read of 1 bytes at 0x3000"):
            cpu.read_memory(0x3000, 1)
        with pytest.raises(kvrm.Error, match="at -0x4"):
            cpu.write_memory(-4, [1])
        assert cpu.read_memory(0x2FFC, 4) == bytes(4)
        if is_new:
            cpu.execute(1)
    # Nothing is behind it: neither a stack nor a heap.
    cpu.write_memory_u32(START, 0xF9400001)  # ldr x1, [x0]
    for address in (0x3000, 0x4000, 0x10_0000, 1 << 40):
        cpu.set_register(0, 0, address)
        cpu.set_pc(0, START)
        assert cpu.execute(5).stop == kvrm.Stop("fault", address, "read", "translation")
    cpu.set_pc(0, 0x3000)
    assert cpu.execute(5).stop == kvrm.Stop("fault", 0x3000, "execute", "translation")


def test_a_lane_that_has_exited_stays_where_it_is() -> None:
    cpu = PyNeuralMetalCPU(1, MEMORY)
    # mov w0, #24; hlt #0xf000; nop: semihosting's SYS_EXIT
    cpu.write_memory(START, np.array([0x52800300, 0xD45E0000, 0xD503201F], "<u4").tobytes())
    cpu.set_pc(0, START)
    assert cpu.execute(100).stop.kind == "exit"
    assert cpu.execute(100).cycles == 0
    cpu.set_pc(0, START + 8)
    assert cpu.execute(100).cycles == 1


@pytest.mark.parametrize(("lanes", "memory"), [(0, 4096), (-1, 4096), (1, 0), (1, -1), (1, 1 << 50)])
def test_a_machine_needs_lanes_and_memory(lanes: int, memory: int) -> None:
    with pytest.raises(kvrm.Error, match="expected"):
        PyNeuralMetalCPU(lanes, memory)


def test_wrong_values_are_refused() -> None:
    cpu = PyNeuralMetalCPU(1, MEMORY)
    with pytest.raises(kvrm.Error, match="expected 0 to 2"):
        cpu.write_memory_u32(0, 1 << 32)
    with pytest.raises(ValueError, match="range"):
        cpu.write_memory(0, [256])
    with pytest.raises(ValueError, match="budget -1"):
        cpu.execute(-1)
    with pytest.raises(kvrm.Error, match='engine "metal": expected one of'):
        PyNeuralMetalCPU(1, MEMORY, engine="metal").execute(1)  # type: ignore[arg-type]
