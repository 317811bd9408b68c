"""Machines: registers, memory, stops, and runs."""

from __future__ import annotations

import pickle
import random
import sys
from pathlib import Path

import numpy as np
import pytest

import kvrm
from conftest import GUESTS, WEIGHTS, interrupt, turns_meanwhile
from kvrm.engine import Prefetch

ADD = 0x91000400  # add x0, x0, #1
HLT = 0xD4400000  # hlt #0
SPIN = 0x14000000  # b .
LOAD = 0xF9400001  # ldr x1, [x0]


def adder(lanes: int, engine: kvrm.OpenEngine | None = None) -> kvrm.Machine:
    """A machine that adds one to x0."""
    program = kvrm.Program.from_words([ADD, HLT])
    return kvrm.Machine(program, lanes=lanes, engine=engine or "reference")


def test_lanes_have_their_own_arguments(sieve: kvrm.Program, engine: kvrm.OpenEngine) -> None:
    machine = kvrm.Machine(sieve, lanes=3, engine=engine, arguments=lambda lane: [str(100 * (lane + 1))])
    report = machine.run()
    assert report.stops == {"exit": 3} and report.engine == engine.name and report.lanes == 3
    # There are 25 primes below 100, 46 below 200, and 62 below 300.
    primes = [machine.output(lane).split(b"primes=")[1].split()[0] for lane in range(3)]
    assert primes == [b"25", b"46", b"62"]
    assert machine.outputs(lanes=[2, 0]) == [machine.output(2), machine.output(0)]
    assert machine.outputs("error") == [b""] * 3
    assert (machine.stops == "exit").all() and (machine.stops.statuses == 0).all()
    assert machine.audit() == []


def test_engines_agree_on_random_words(engine: kvrm.OpenEngine) -> None:
    reference = kvrm.Engine("reference").open()
    generator = random.Random(19)
    words = [generator.getrandbits(32) for _ in range(256)]
    results = []
    for each in (engine, reference):
        machine = kvrm.Machine(kvrm.Program.from_words(words), lanes=64, engine=each)
        machine.registers["pc"] = 0x1000 + 4 * np.arange(64)
        machine.registers["x1"] = np.arange(64) << 20
        machine.run(100)
        names = [*(f"x{n}" for n in range(31)), "sp", "pc", "nzcv", "steps"]
        state = [machine.registers[name].tolist() for name in names]
        results.append((state, machine.memory(0x1000, 1024).tobytes(), list(machine.stops)))
    assert results[0] == results[1]


def test_registers_are_set_in_all_or_in_some_lanes(engine: kvrm.OpenEngine) -> None:
    machine = adder(4, engine)
    machine.registers["x0"] = [1, 2, 3, (1 << 64) - 1]
    machine.registers["x7"] = -1
    machine.registers["x7", [2, 0]] = [5, 6]
    machine.registers["x7", np.array([False, True, False, False])] = 9
    machine.registers["x7", -1] = 8
    machine.registers["x9", 1:3] = 4
    machine.run()
    assert machine.registers["x0"].tolist() == [2, 3, 4, 0]
    assert machine.registers["x7"].tolist() == [6, 9, 5, 8]
    assert machine.registers["x9"].tolist() == [0, 4, 4, 0]
    assert machine.registers["steps"].tolist() == [1] * 4
    assert machine.registers["x0"].dtype == np.uint64


def test_vector_registers_have_two_halves() -> None:
    program = kvrm.Program.from_words([0x4EE08421, HLT])  # add v1.2d, v1.2d, v0.2d
    kvrm.Machine(program, engine="reference", features=["neoverse-n1", "sha3"])
    machine = kvrm.Machine(program, lanes=2, engine="reference", features=["fp"])
    machine.registers["v0"] = [[1, 2], [3, 4]]
    machine.registers["v1", 1] = [[10, 20]]
    machine.run()
    assert machine.registers["v1"].tolist() == [[1, 2], [13, 24]]


@pytest.mark.parametrize("name", ["x31", "x01", "w0", "v32", "X0", ""])
def test_an_unknown_register_is_refused(name: str) -> None:
    with pytest.raises(kvrm.Error, match="expected x0 to x30"):
        adder(1).registers[name]


@pytest.mark.parametrize(
    ("values", "error"), [([1, 2, 3], ValueError), (1.5, TypeError), ("seven", TypeError)]
)
def test_wrong_values_of_registers_are_refused(values: object, error: type[Exception]) -> None:
    machine = adder(2)
    with pytest.raises(error):
        machine.registers["x0"] = values  # type: ignore[assignment]
    assert machine.registers["x0"].tolist() == [0, 0]


def test_memory_is_an_array_of_any_type(engine: kvrm.OpenEngine) -> None:
    program = kvrm.Program.raw(b"\0\0\x40\xd4", 0x1000, 0x2000)
    machine = kvrm.Machine(program, lanes=3, engine=engine)
    rows = np.arange(12, dtype="<f8").reshape(3, 2, 2)
    machine.write_memory(0x1100, rows)
    assert (machine.memory(0x1100, (2, 2), "<f8") == rows).all()
    machine.write_memory(0x1100, rows[:2] + 100, lanes=[2, 0])
    assert (machine.memory(0x1100, (2, 2), "<f8", [0, 1, 2]) == [rows[1] + 100, rows[1], rows[0] + 100]).all()
    machine.write_memory(0x2000, b"shared")
    assert machine.memory(0x2000, 6)[2].tobytes() == b"shared"
    assert machine.memory(0x2000, (), "<u2", lanes=1).tolist() == [int.from_bytes(b"sh", "little")]
    assert machine.private_pages(0).tolist() == [0x1000, 0x2000]


def test_nothing_is_written_if_a_byte_is_not_mapped() -> None:
    machine = kvrm.Machine(kvrm.Program.raw(b"\1" * 4096, 0x1000), lanes=2, engine="reference")
    with pytest.raises(kvrm.Error, match="lane 0: write to unmapped memory at 0x2000"):
        machine.write_memory(0x1FFC, np.zeros((2, 2), np.uint32))
    assert (machine.memory(0x1000, 4096) == 1).all()


def test_an_array_needs_a_row_for_each_lane() -> None:
    with pytest.raises(ValueError, match=r"shape \(3, 4\) for 2 lanes"):
        adder(2).write_memory(0x1000, np.zeros((3, 4), np.uint8))
    with pytest.raises(ValueError, match=r"shape \(\) for 2 lanes"):
        adder(2).write_memory(0x1000, 7)


@pytest.mark.parametrize("lanes", [5, -6, [0, 5], np.array([True, False])])
def test_a_lane_that_is_not_there_is_refused(lanes: int | list[int]) -> None:
    with pytest.raises(IndexError):
        adder(5).resume(lanes)


def test_a_budget_is_exact_and_runs_go_on(engine: kvrm.OpenEngine) -> None:
    machine = kvrm.Machine(kvrm.Program.from_words([ADD] * 10 + [HLT]), lanes=2, engine=engine)
    assert machine.stops[0] is None and machine.stops.counts() == {}
    assert machine.run(7).stops == {"budget": 2}
    assert machine.registers["x0"].tolist() == [7, 7]
    report = machine.run()
    assert report.stops == {"halt": 2} and report.steps == 6
    with pytest.raises(ValueError, match="budget -1"):
        machine.run(-1)


def test_stops_say_why(engine: kvrm.OpenEngine) -> None:
    program = kvrm.Program.from_words([LOAD, HLT])
    machine = kvrm.Machine(program, lanes=3, engine=engine)
    machine.registers["x0"] = [0x1000, 0xDEAD000, 0x1000]
    machine.registers["pc", 2] = 0x1002
    machine.run()
    stops = machine.stops
    assert stops[1] == kvrm.Stop("fault", 0xDEAD000, "read", "translation")
    assert str(stops[1]) == "read from unmapped memory at 0xdead000"
    assert stops.kinds.tolist() == ["halt", "fault", "fault"]
    assert (stops == "fault").tolist() == [False, True, True]
    assert (stops != "fault").tolist() == [True, False, False]
    assert stops == machine.stops and stops[1:] != stops[:2]
    assert stops[2] == kvrm.Stop("fault", 0x1002, "execute", "alignment")
    with pytest.raises(ValueError, match="expected one of exit"):
        stops == "error"  # noqa: B015


def test_an_exit_has_a_status(sieve: kvrm.Program) -> None:
    # SYS_EXIT_EXTENDED with the status -3.
    words = [0xD2800400, 0xD10043E1, 0xD28004C2, 0xF2A00042, 0xF9000022, 0x92800042, 0xF9000422, 0xD45E0000]
    machine = kvrm.Machine(kvrm.Program.from_words(words), lanes=2, engine="reference")
    machine.run()
    assert machine.stops[0] == kvrm.Stop("exit", -3)
    assert str(machine.stops[0]) == "exit with status -3"
    assert machine.stops.statuses.tolist() == [-3, -3]


def test_a_snapshot_is_restored_in_some_lanes(engine: kvrm.OpenEngine) -> None:
    machine = adder(3, engine)
    with pytest.raises(kvrm.Error, match="snapshot"):
        machine.reset()
    machine.registers["x0"] = [1, 2, 3]
    machine.snapshot()
    machine.run()
    machine.reset([False, True, True])
    assert machine.registers["x0"].tolist() == [2, 2, 3]
    machine.reset(machine.stops == "halt")
    assert machine.registers["x0"].tolist() == [1, 2, 3]


def test_a_machine_is_pickled_and_saved_with_the_state_of_its_lanes(engine: kvrm.OpenEngine, tmp_path: Path) -> None:
    program = kvrm.Program.open(GUESTS / "quicksort.elf")
    arguments = [["100", str(lane)] for lane in range(5)]
    machine = kvrm.Machine(program, lanes=5, engine=engine, arguments=arguments)
    machine.run(9000)
    path = tmp_path / "machine"
    machine.save(path)
    copies = [pickle.loads(pickle.dumps(machine)), kvrm.Machine.load(path, "reference"), kvrm.Machine.load(path, "jit")]
    assert [copy.engine.name for copy in copies] == [engine.name, "reference", "jit"]
    pages = [machine.private_pages(lane).tolist() for lane in range(5)]
    report = machine.run()
    for copy in copies:
        assert [copy.private_pages(lane).tolist() for lane in range(5)] == pages
        assert copy.registers["steps"].tolist() == [9000] * 5 and copy.stops[0] == kvrm.Stop("budget")
        assert repr(copy.program) == repr(program) and copy.program.symbols == program.symbols
        assert copy.run().steps == report.steps
        assert copy.outputs() == machine.outputs() and all(copy.outputs())
        assert (copy.registers["sp"] == machine.registers["sp"]).all()
    with pytest.raises(kvrm.Error, match="there is no snapshot"):
        copies[0].reset()
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(kvrm.Error, match="this is no saved machine: "):
        kvrm.Machine.load(path)
    with pytest.raises(kvrm.Error, match="cannot be saved: its guests have files in a directory of the host"):
        kvrm.Machine(program, directory=tmp_path).save(path)


def test_lanes_stop_at_hooks_and_go_on(engine: kvrm.OpenEngine) -> None:
    hooks = kvrm.Hooks(breakpoints=[0x1004])
    program = kvrm.Program.from_words([ADD, ADD, LOAD, HLT])
    machine = kvrm.Machine(program, lanes=2, engine=engine, hooks=hooks)
    machine.registers["x0"] = 0x1000 - 2
    assert machine.run().stops == {"hardware-breakpoint": 2}
    assert machine.registers["pc"].tolist() == [0x1004] * 2
    machine.set_hooks(kvrm.Hooks(reads=[(0x1000, 0x1001)]))
    machine.resume()
    assert machine.run().stops == {"watchpoint": 2}
    assert machine.stops[0] == kvrm.Stop("watchpoint", 0x1000, "read")
    machine.resume(1)
    assert machine.run().stops == {"watchpoint": 1, "halt": 1}


def test_hooks_name_functions_and_variables(engine: kvrm.OpenEngine) -> None:
    program = kvrm.Program.assemble(
        """
            adr x1, counter
            bl store
            hlt #0
            .balign 8
        counter:
            .quad 5, 6
        store:
            str x0, [x1, #8]
            ret
        """
    )
    hooks = kvrm.Hooks(breakpoints=["store"], writes=["counter"])
    machine = kvrm.Machine(program, engine=engine, hooks=hooks)
    assert machine.run().stops == {"hardware-breakpoint": 1}
    assert machine.registers["pc"].tolist() == [program.symbol("store").address]
    machine.set_hooks(kvrm.Hooks(writes=["counter"]))
    machine.resume()
    assert machine.run().stops == {"watchpoint": 1}
    assert machine.stops[0] == kvrm.Stop("watchpoint", program.symbol("counter").address + 8, "write")
    with pytest.raises(kvrm.Error, match="has no symbol 'stored'; there is store"):
        machine.set_hooks(kvrm.Hooks(breakpoints=["stored"]))


def test_forks_begin_in_the_state_of_a_lane(engine: kvrm.OpenEngine) -> None:
    machine = adder(2)
    machine.registers["x0"] = [10, 20]
    fork = machine.fork(1, 5, engine)
    fork.registers["x0", 4] = 50
    fork.run()
    assert fork.registers["x0"].tolist() == [21, 21, 21, 21, 51]
    assert machine.registers["x0"].tolist() == [10, 20]
    assert fork.engine.name == engine.name


def test_a_trace_shows_each_instruction_and_changes_nothing() -> None:
    machine = adder(2)
    machine.registers["x0", 1] = 41
    steps = list(machine.trace(1))
    assert [(step.pc, step.text, step.changes) for step in steps] == [(0x1000, "add x0, x0, #0x1", {"x0": 42})]
    assert machine.registers["x0"].tolist() == [0, 41] and machine.stops[1] is None
    spin = kvrm.Machine(kvrm.Program.from_words([SPIN]), engine="reference")
    assert [step.step for step in spin.trace(steps=3)] == [0, 1, 2]


def test_a_report_is_pickled_with_its_text() -> None:
    report = adder(2).run()
    copy = pickle.loads(pickle.dumps(report))
    assert copy == report and str(copy) == str(report)
    assert "2 halt" in str(report)


def test_options_are_checked(sieve: kvrm.Program) -> None:
    with pytest.raises(kvrm.Error, match="arguments: 2 rows for 3 lanes"):
        kvrm.Machine(sieve, lanes=3, engine="reference", arguments=[["1"], ["2"]])
    with pytest.raises(TypeError, match="expected a list of texts for each lane, not '1000'"):
        kvrm.Machine(sieve, arguments="1000")
    with pytest.raises(TypeError, match=r"not \[1000\]"):
        kvrm.Machine(sieve, arguments=[1000])  # type: ignore[list-item]
    with pytest.raises(kvrm.Error, match="0 were asked for"):
        kvrm.Machine(sieve, lanes=0, engine="reference")
    with pytest.raises(kvrm.Error, match='feature "sve": expected one of base, crc32'):
        kvrm.Machine(sieve, engine="reference", features=["sve"])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"name": "cuda"}, 'engine "cuda": expected one of auto, gpu, gpus, jit, reference'),
        ({"translate": "no"}, 'translate "no": expected one of off, auto, always'),
        ({"loops": "on"}, 'loops "on": expected one of off, checker'),
        ({"class_selection": "x"}, 'class_selection "x": expected one of table'),
        ({"name": "jit", "class_selection": "network"}, 'class_selection needs a GPU, but engine "jit" is the CPU'),
        ({"adapter": "no such GPU"}, "no such GPU"),
        ({"gpus": "0,,1"}, "0,,1"),
        ({"gpus": [0, 0]}, "twice|same"),
        ({"name": "reference", "gpus": 2}, 'gpus needs a GPU, but engine "reference" is the CPU'),
        ({"name": "gpus", "adapter": "x"}, 'adapter names one GPU, but engine "gpus" is all of them'),
        ({"name": "jit", "device_memory": 1 << 30}, 'device_memory needs a GPU, but engine "jit" is the CPU'),
        ({"host_memory": 1 << 30}, "host_memory needs device_memory"),
        ({"host_file": "frames"}, "host_file needs device_memory"),
        ({"host_file_size": 1 << 30, "device_memory": 1 << 30}, "host_file_size needs host_file"),
        ({"prefetch": "next"}, "prefetch needs device_memory"),
        ({"prefetch": "all", "device_memory": 1 << 30}, 'prefetch "all": expected one of none, next, stride'),
        ({"prefetch_degree": 2}, "prefetch_degree needs device_memory"),
        (
            {"prefetch": "none", "prefetch_degree": 2, "device_memory": 1 << 30},
            'prefetch_degree 2 is for a prefetch other than "none"',
        ),
        ({"prefetch": "next", "prefetch_degree": 17, "device_memory": 1 << 30}, "17"),
    ],
)
def test_options_of_engines_are_checked(options: dict[str, object], text: str) -> None:
    with pytest.raises(kvrm.Error, match=text):
        kvrm.Engine(**options).open()  # type: ignore[arg-type]


PASSES = """
        mov x3, #2
pass:   mov x1, #0x2000
        mov x2, #400
page:   ldr x4, [x1]
        add x4, x4, #1
        str x4, [x1]
        add x0, x0, x4
        add x1, x1, #1, lsl #12
        subs x2, x2, #1
        b.ne page
        subs x3, x3, #1
        b.ne pass
        hlt #0
"""
"""Adds one to a word of each of 400 pages, twice, and adds up the sums."""


@pytest.mark.parametrize("prefetch", [None, "none", "oracle"])
def test_pages_that_do_not_fit_on_the_device_move(prefetch: Prefetch | None) -> None:
    code = kvrm.Program.assemble(PASSES).segments[0].data
    program = kvrm.Program.raw(code, 0x1000, 401 * 4096)
    engine = kvrm.Engine(
        "gpu",
        device_memory=1 << 20,  # Fewer than 300 pages.
        host_memory=4 << 20,
        prefetch=prefetch,
        prefetch_degree=None if prefetch == "none" else 2,
        prefetch_weights=WEIGHTS / "memory-oracle.safetensors" if prefetch == "oracle" else None,
    )
    machine = kvrm.Machine(program, lanes=2, engine=engine.open())
    report = machine.run()
    assert machine.registers["x0"].tolist() == [400 + 800] * 2
    assert machine.memory(0x2000, (400, 512), "<u8")[:, :, 0].tolist() == [[2] * 400] * 2
    moves = report.frame_moves
    assert moves is not None and moves["fetched"] > 0 and moves["evicted"] > 0
    assert (moves["prefetched"] > 0) == (prefetch != "none")
    assert (moves["asked"] > 0) == (prefetch == "oracle")


def test_pages_that_do_not_fit_in_the_memory_of_the_host_go_to_a_file(tmp_path: Path) -> None:
    code = kvrm.Program.assemble(PASSES).segments[0].data
    program = kvrm.Program.raw(code, 0x1000, 401 * 4096)
    file = tmp_path / "frames"
    engine = kvrm.Engine("gpu", device_memory=1 << 20, host_memory=1 << 20, host_file=file, host_file_size=4 << 20)
    machine = kvrm.Machine(program, lanes=2, engine=engine.open())
    report = machine.run()
    assert machine.registers["x0"].tolist() == [400 + 800] * 2
    moves = report.frame_moves
    assert moves is not None and moves["to_file"] > 0 and moves["from_file"] > 0
    assert report.warnings == [] and list(tmp_path.iterdir()) == []
    with pytest.raises(kvrm.Error, match="nowhere.*created"):
        missing = kvrm.Engine("gpu", device_memory=1 << 20, host_file=tmp_path / "nowhere" / "frames")
        kvrm.Machine(program, lanes=2, engine=missing.open())


def test_the_host_has_a_default_and_limits_are_those_of_the_engine() -> None:
    engine = kvrm.Engine(device_memory=64 << 20).open()
    assert engine.name == "gpu"  # Only a GPU has memory of a device.
    machine = adder(2, engine)
    moves = machine.run().frame_moves
    assert moves is not None and (moves["evicted"], moves["fetched"]) == (0, 0)
    assert adder(2, kvrm.Engine("gpu").open()).run().frame_moves is None


def test_progress_is_seen_and_ends_a_run(engine: kvrm.OpenEngine) -> None:
    machine = kvrm.Machine(kvrm.Program.from_words([ADD, 0x17FFFFFF]), lanes=2, engine=engine)
    seen: list[kvrm.Progress] = []

    def progress(now: kvrm.Progress) -> bool:
        seen.append(now)
        return len(seen) < 3

    report = machine.run(progress=progress)
    assert report.stops == {"budget": 2} and len(seen) == 3
    assert [now.running for now in seen] == [2] * 3 and seen[0].steps < seen[2].steps <= report.steps
    # The lanes are between two instructions.
    assert (machine.registers["x0"] == (machine.registers["steps"] + 1) // 2).all()


def test_an_exception_of_a_callback_ends_a_run() -> None:
    machine = kvrm.Machine(kvrm.Program.from_words([SPIN]), engine="reference")
    with pytest.raises(ZeroDivisionError):
        machine.run(progress=lambda now: 1 // (now.lanes - 1))
    assert machine.stops.counts() == {"budget": 1}


def test_a_callback_cannot_call_the_machine_that_runs() -> None:
    machine = kvrm.Machine(kvrm.Program.from_words([SPIN]), engine="reference")
    with pytest.raises(kvrm.Error, match="at work for another call"):
        machine.run(progress=lambda _: machine.stops is None)


def test_a_bar_shows_progress(capsys: pytest.CaptureFixture[str]) -> None:
    report = adder(3).run(progress=True)
    assert report.stops == {"halt": 3}
    assert "3/3" in capsys.readouterr().err


def test_other_threads_run_meanwhile() -> None:
    machine = kvrm.Machine(kvrm.Program.from_words([SPIN]), engine="reference")
    assert turns_meanwhile(lambda: machine.run(100_000_000)) > 10


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_ends_a_run_and_keeps_the_state() -> None:
    script = f"""
import kvrm
machine = kvrm.Machine(kvrm.Program.from_words([{ADD}, 0x17ffffff]), lanes=2, engine="reference")
print("begins", flush=True)
try:
    machine.run()
except KeyboardInterrupt:
    steps = machine.registers["steps"]
    assert (machine.registers["x0"] == (steps + 1) // 2).all() and steps.all()
    assert machine.run(10).steps == 20
    print("ended")
"""
    assert interrupt(script, 0.5) == (0, "ended\n")


def test_adapters_are_listed() -> None:
    for adapter in kvrm.adapters():
        assert adapter.name and adapter.backend in ("vulkan", "metal", "dx12")
