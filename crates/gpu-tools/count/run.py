#!/usr/bin/env python3
"""Runs slices of the interpreter with CUDA and counts instructions a step with Nsight Compute (ncu).

It needs an NVIDIA GPU with its driver, and no Python packages. README.md says how to make its input.
"""

import argparse
import csv
import ctypes
import io
import json
import lzma
import re
import subprocess
import sys
from pathlib import Path

# The offset of `steps` in the parameters.
STEPS_OFFSET = 4
METRICS = [
    "gpu__time_duration.sum",
    "sm__cycles_elapsed.max",
    "smsp__cycles_active.sum",
    "smsp__inst_executed.sum",
    "smsp__inst_issued.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__inst_executed_op_global_ld.sum",
    "smsp__inst_executed_op_local_ld.sum",
    "smsp__inst_executed_op_local_st.sum",
    "l1tex__t_sector_hit_rate.pct",
]
STALL = re.compile(r"smsp__average_warps_issue_stalled_(.*)_per_issue_active")


class Cuda:
    """The driver API of CUDA."""

    def __init__(self) -> None:
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", name, 100, device)
        self.name = name.value.decode()

    def call(self, function: str, *args: object) -> None:
        """Calls a function, and ends the program if it fails."""
        code = getattr(self.lib, function)(*args)
        if code != 0:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorString(code, ctypes.byref(text))
            raise SystemExit(f"{function}: {(text.value or b'').decode()} ({code})")

    def allocate(self, size: int) -> int:
        """Returns the address of new memory."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def upload(self, address: int, contents: bytes, size: int) -> None:
        """Fills memory with contents, and with zeros behind them."""
        rest = size - len(contents)
        if rest > 0:
            self.call("cuMemsetD8_v2", ctypes.c_uint64(address + len(contents)), 0, ctypes.c_size_t(rest))
        if contents:
            self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), contents, ctypes.c_size_t(len(contents)))

    def download(self, address: int, size: int) -> bytes:
        """Returns contents of memory."""
        contents = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", contents, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return contents.raw


def contents_of(folder: Path, name: str) -> bytes:
    """Returns the stored contents of a buffer."""
    packed = folder / f"{name}.bin.xz"
    return lzma.decompress(packed.read_bytes()) if packed.exists() else (folder / f"{name}.bin").read_bytes()


def with_steps(parameters: bytes, steps: int) -> bytes:
    """Returns parameters with another number of steps."""
    return parameters[:STEPS_OFFSET] + steps.to_bytes(4, "little") + parameters[STEPS_OFFSET + 4 :]


def find_kernels(folder: Path, slice_folder: Path) -> list[tuple[Path, int]]:
    """Returns the folders of the compiled kernels of a slice, with the sizes of workgroups."""
    kernels = json.loads((slice_folder / "slice.json").read_text())["kernels"]
    return [(folder / "kernels" / of["name"], of["workgroup"]) for of in kernels]


def launch(args: argparse.Namespace) -> None:
    """Runs a slice and prints what happened as JSON."""
    folder = args.folder / "slices" / args.slice
    about = json.loads((folder / "slice.json").read_text())
    kernel = args.folder / "kernels" / args.kernel
    compiled = json.loads((kernel / "kernel.json").read_text())
    lanes, steps = about["lanes"], args.steps or about["steps"]
    workgroup = args.workgroup
    cuda = Cuda()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    cuda.call("cuModuleLoadData", ctypes.byref(module), (kernel / "kernel.cubin").read_bytes())
    cuda.call("cuModuleGetFunction", ctypes.byref(function), module, compiled["entry"].encode())
    buffers = {}
    for buffer in about["buffers"]:
        contents = contents_of(folder, buffer["name"])
        if buffer["name"] == "parameters":
            contents = with_steps(contents, steps)
        buffers[buffer["binding"]] = (cuda.allocate(buffer["bytes"]), contents, buffer["bytes"], buffer["name"])
    table = b"".join(
        buffers[binding][0].to_bytes(8, "little") + buffers[binding][2].to_bytes(8, "little")
        for binding in compiled["bindings"]
    )
    address, size = ctypes.c_uint64(), ctypes.c_size_t()
    cuda.call("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, b"SLANG_globalParams")
    if size.value != len(table):
        raise SystemExit(f"the kernel has {size.value} bytes of buffers, and there are {len(table)}")
    cuda.upload(address.value, table, len(table))
    events = [ctypes.c_void_p(), ctypes.c_void_p()]
    for event in events:
        cuda.call("cuEventCreate", ctypes.byref(event), 0)
    times, retired = [], 0
    for _ in range(args.launches):
        for place, contents, length, _ in buffers.values():
            cuda.upload(place, contents, length)
        cuda.call("cuCtxSynchronize")
        cuda.call("cuEventRecord", events[0], None)
        groups = (lanes + workgroup - 1) // workgroup
        cuda.call("cuLaunchKernel", function, groups, 1, 1, workgroup, 1, 1, 0, None, None, None)
        cuda.call("cuEventRecord", events[1], None)
        cuda.call("cuCtxSynchronize")
        milliseconds = ctypes.c_float()
        cuda.call("cuEventElapsedTime", ctypes.byref(milliseconds), events[0], events[1])
        times.append(milliseconds.value / 1000)
        counters, _, length, _ = next(of for of in buffers.values() if of[3] == "counters")
        words = memoryview(cuda.download(counters, length)).cast("I")
        retired = words[about["counters"]["steps"]] | words[about["counters"]["steps_high"]] << 32
    result = {"device": cuda.name, "seconds": min(times), "retired": retired, "expected": lanes * steps}
    if retired != lanes * steps:
        print(f"warning: {args.slice}: {retired} steps instead of {lanes * steps}", file=sys.stderr)
    print("RESULT " + json.dumps(result))


def child(args: argparse.Namespace, slice_name: str, kernel: str, workgroup: int, launches: int) -> list[str]:
    """Returns the command that runs a slice."""
    command = [sys.executable, __file__, str(args.folder), "--slice", slice_name, "--kernel", kernel]
    command += ["--workgroup", str(workgroup), "--launches", str(launches)]
    return command + (["--steps", str(args.steps)] if args.steps else [])


def output(command: list[str]) -> str:
    """Runs a command and returns what it prints; an empty text if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.stderr or done.returncode:
        print(done.stderr, (done.stdout if done.returncode else ""), file=sys.stderr)
    return done.stdout if done.returncode == 0 else ""


def profile(args: argparse.Namespace, command: list[str], name: str) -> dict[str, float]:
    """Returns the metrics of a slice, as ncu measures them."""
    ncu = ["ncu", "--kernel-name", "run", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
    ncu += ["--section", "WarpStateStats", "--metrics", ",".join(METRICS)]
    text = output([*ncu, *command])
    if args.source:
        ncu = ["ncu", "--kernel-name", "run", "--clock-control", "none", "--csv", "--page", "source"]
        ncu += ["--section", "SourceCounters"]
        args.source.mkdir(parents=True, exist_ok=True)
        (args.source / f"{name}.csv").write_text(output([*ncu, *command]))
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))
    values = {}
    # The row behind the header has the units.
    for key, value in (rows[-1] if rows else {}).items():
        try:
            values[key] = float(value.replace(",", ""))
        except (AttributeError, ValueError):
            continue
    return values


def table(args: argparse.Namespace) -> None:
    """Runs all slices and prints a table."""
    rows = []
    for folder in sorted((args.folder / "slices").iterdir()):
        if args.only and not re.search(args.only, folder.name):
            continue
        for kernel, workgroup in find_kernels(args.folder, folder):
            if not (kernel / "kernel.cubin").exists():
                print(f"{folder.name}: {kernel.name} is not compiled; see build.py", file=sys.stderr)
                continue
            text = output(child(args, folder.name, kernel.name, workgroup, args.launches))
            found = re.search("^RESULT (.*)$", text, re.M)
            if not found:
                continue
            result = json.loads(found[1])
            about = json.loads((folder / "slice.json").read_text())
            command = child(args, folder.name, kernel.name, workgroup, 1)
            name = f"{folder.name}-{kernel.name}"
            values = {} if args.no_ncu else profile(args, command, name)
            rows.append(row(about, result, values, kernel.name, workgroup, folder.name))
            print(json.dumps({**rows[-1], "metrics": values}), file=sys.stderr)
            device = result["device"]
    if not rows:
        raise SystemExit("nothing was run")
    print(f"\n{device}\n")
    names = list(rows[0])
    widths = [max(len(name), *(len(of[name]) for of in rows)) for name in names]
    for line in [dict(zip(names, names)), *rows]:
        print("  ".join(line[name].ljust(width) for name, width in zip(names, widths)))


def row(about: dict, result: dict, values: dict, kernel: str, workgroup: int, name: str) -> dict[str, str]:
    """Returns a row of the table."""
    steps, lanes = result["retired"] or 1, about["lanes"]
    # Steps of warps, if all lanes of a warp always run.
    warp_steps = steps / min(workgroup, lanes, 32)

    def rate(metric: str, count: float) -> str:
        return f"{values[metric] / count:.1f}" if metric in values else "-"

    stalls = {match[1]: value for key, value in values.items() if (match := STALL.match(key))}
    top = sorted(stalls.items(), key=lambda of: -of[1])[:5]
    return {
        "slice": name,
        "kernel": kernel,
        "lanes": str(lanes),
        "wg": str(workgroup),
        "steps": "all" if result["retired"] == result["expected"] else f"{result['retired']} of {result['expected']}",
        "ms": f"{1000 * result['seconds']:.3f}",
        "Msteps/s": f"{steps / result['seconds'] / 1e6:.2f}",
        "ns/step/lane": f"{1e9 * result['seconds'] * lanes / steps:.1f}",
        "warp inst/warp step": rate("smsp__inst_executed.sum", warp_steps),
        "thread inst/step": rate("smsp__thread_inst_executed.sum", steps),
        "cycles/lane step": rate("sm__cycles_elapsed.max", steps / lanes),
        "global ld": rate("smsp__inst_executed_op_global_ld.sum", warp_steps),
        "local ld": rate("smsp__inst_executed_op_local_ld.sum", warp_steps),
        "local st": rate("smsp__inst_executed_op_local_st.sum", warp_steps),
        "L1 hit %": rate("l1tex__t_sector_hit_rate.pct", 1),
        "stalls, warps an issue": ", ".join(f"{reason} {value:.2f}" for reason, value in top) or "-",
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder with slices/ and kernels/")
    parser.add_argument("--only", help="regular expression of the names of slices")
    parser.add_argument("--steps", type=int, help="steps of each lane, instead of those of the slice")
    parser.add_argument("--launches", type=int, default=5, help="launches of which the fastest counts")
    parser.add_argument("--no-ncu", action="store_true", help="measure the time only")
    parser.add_argument("--source", type=Path, help="folder for counts of each instruction, as CSV")
    parser.add_argument("--slice", help=argparse.SUPPRESS)
    parser.add_argument("--kernel", help=argparse.SUPPRESS)
    parser.add_argument("--workgroup", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.slice:
        launch(args)
    else:
        table(args)


if __name__ == "__main__":
    main()
