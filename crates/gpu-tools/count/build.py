#!/usr/bin/env python3
"""Turns the HLSL of an interpreter into machine code of an NVIDIA GPU, without a GPU.

Naga writes the HLSL (`--bin dump`), slang translates it to CUDA, and NVRTC compiles it. README.md names the packages.
"""

import argparse
import ctypes
import json
import re
import subprocess
import sys
from pathlib import Path

# Slang splits accesses to vectors into words; these functions do not.
ACCESSES = "".join(
    f"""uint{n} kvrm_load{n}(ByteAddressBuffer b, uint a) {{ __intrinsic_asm "($0).Load<uint{n}>($1)"; }}
uint{n} kvrm_load{n}(RWByteAddressBuffer b, uint a) {{ __intrinsic_asm "($0).Load<uint{n}>($1)"; }}
void kvrm_store{n}(RWByteAddressBuffer b, uint a, uint{n} v) {{ __intrinsic_asm "($0).Store<uint{n}>($1, $2)"; }}
"""
    for n in (2, 3, 4)
)

# The buffers of the program: one access for a word or vector, and a bounds check like that of Vulkan drivers, which
# compares an offset of 32 bits.
BUFFERS = """
struct KvrmBuffer {
    char* data;
    uint32_t bytes;
    template<typename T> __device__ __forceinline__ uint32_t place(uint32_t index) const {
#if KVRM_BOUNDS == 1
        return index <= bytes - uint32_t(sizeof(T)) ? index : 0u;
#else
        return index;
#endif
    }
    template<typename T> __device__ __forceinline__ T Load(uint32_t index) const {
#if KVRM_BOUNDS == 2
        T value{};
        if (index <= bytes - uint32_t(sizeof(T))) value = *(const T*)(data + index);
        return value;
#else
        return *(const T*)(data + place<T>(index));
#endif
    }
    template<typename T> __device__ __forceinline__ void Store(uint32_t index, T const& value) const {
#if KVRM_BOUNDS
        if (index <= bytes - uint32_t(sizeof(T)))
#endif
        *(T*)(data + index) = value;
    }
    template<typename T> __device__ __forceinline__ RWStructuredBuffer<T> asStructuredBuffer() const {
        RWStructuredBuffer<T> rs;
        rs.data = (T*)data;
        rs.count = bytes / sizeof(T);
        return rs;
    }
};
"""

BOUNDS = {"none": 0, "select": 1, "predicate": 2}


def packages() -> Path:
    """Returns the folder of the Python packages. It imports none: slangtorch would need torch."""
    for entry in sys.path:
        if (Path(entry) / "slangtorch/bin/slangc").exists():
            return Path(entry)
    raise SystemExit("the package slangtorch is not installed; see README.md")


def translate(hlsl: Path, out: Path, entry: str, bounds: str) -> Path:
    """Translates HLSL to CUDA."""
    site = packages()
    text = hlsl.read_text()
    text = re.sub(r"\b(\w+)\.Load([234])\(", r"kvrm_load\2(\1, ", text)
    text = re.sub(r"\b(\w+)\.Store([234])\(", r"kvrm_store\2(\1, ", text)
    source = out / "for_slang.hlsl"
    source.write_text(f'{ACCESSES}#line 1 "{hlsl.name}"\n{text}')
    slang = site / "slangtorch/bin/slangc"
    command = [slang, "-lang", "hlsl", source, "-entry", entry, "-stage", "compute", "-target", "cuda"]
    done = subprocess.run([*command, "-o", out / "slang.cu"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"slang: {done.stderr}")
    prelude, program = split((out / "slang.cu").read_text())
    program = re.sub(r"\b(RW)?ByteAddressBuffer\b", "KvrmBuffer", program)
    # Drivers of Vulkan inline all functions.
    program = re.sub(r"^__device__ ", "__device__ __forceinline__ ", program, flags=re.M)
    cuda = out / "kernel.cu"
    cuda.write_text(f"#define KVRM_BOUNDS {BOUNDS[bounds]}\n{prelude}{BUFFERS}{program}")
    return cuda


def split(text: str) -> tuple[str, str]:
    """Splits CUDA into the prelude of slang and the program."""
    place = text.index("\nstruct GlobalParams_0")
    # The declaration may have a line directive before it.
    return text[:place], text[place:]


def compile_cuda(cuda: Path, arch: str, options: list[str]) -> tuple[bytes, str]:
    """Compiles CUDA to machine code. Returns it, and what the assembler says."""
    site = packages()
    folders = [site / "nvidia/cu13/lib", site / "nvidia/cuda_nvrtc/lib"]
    libraries = [path for folder in folders for path in sorted(folder.glob("libnvrtc.so.*"))]
    if not libraries:
        raise SystemExit("the package nvidia-cuda-nvrtc is not installed; see README.md")
    for path in libraries[0].parent.glob("libnvrtc-builtins.so.*"):
        ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(str(libraries[0]))
    program = ctypes.c_void_p()
    source = cuda.read_bytes()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, cuda.name.encode(), 0, None, None) == 0
    flags = [f"--gpu-architecture={arch}", "-std=c++17", "-lineinfo", "-w", "--ptxas-options=-v", *options]
    array = (ctypes.c_char_p * len(flags))(*[flag.encode() for flag in flags])
    failed = nvrtc.nvrtcCompileProgram(program, len(flags), array)

    def get(name: str) -> bytes:
        size = ctypes.c_size_t()
        getattr(nvrtc, f"nvrtcGet{name}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, f"nvrtcGet{name}")(program, buffer)
        return buffer.raw

    log = get("ProgramLog").decode(errors="replace").rstrip("\0")
    if failed:
        raise SystemExit(f"nvrtc: {log}")
    return get("CUBIN"), log


def disassembler() -> Path | None:
    """Returns the disassembler of the installed packages."""
    site = packages()
    paths = [site / "nvidia/cu13/bin/nvdisasm", site / "triton/backends/nvidia/bin/nvdisasm"]
    return next((path for path in paths if path.exists()), None)


def bindings(hlsl: str, cuda: str) -> list[int]:
    """Returns the bindings in the order in which the kernel has its buffers."""
    numbers = {name: int(number) for name, number in re.findall(r"^\w+ (\w+) : register\([tu](\d+)", hlsl, re.M)}
    members = re.search(r"struct GlobalParams_0\s*{(.*?)}", cuda, re.S)[1]
    # Slang adds a number to names, and leaves out repeated underscores.
    numbers = {re.sub("_+", "_", f"{name}_0"): number for name, number in numbers.items()}
    return [numbers[name] for name in re.findall(r"KvrmBuffer (\w+);", members)]


LINE = re.compile(r'\s*//## File "([^"]*)", line (\d+)')
INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;")
LABEL = re.compile(r"(\.L_x_\d+):")
TARGET = re.compile(r"BRA.*`\((\.L_x_\d+)\)")


def annotate(sass: str, hlsl: str) -> tuple[str, str]:
    """Returns a listing of machine code with lines of HLSL, and a list of its loops.

    The lines of HLSL are that of the instruction and, in an inlined function, that of the call.
    """
    source = hlsl.splitlines()
    code, labels, lines, is_new = [], {}, [], False
    for text in sass.splitlines():
        if found := LINE.match(text):
            if not is_new:
                lines, is_new = [], True
            if found[1].endswith(".hlsl") and "kernel" in Path(found[1]).name:
                lines.append(int(found[2]))
        elif found := INSTRUCTION.match(text):
            is_new = False
            code.append((int(found[1], 16), found[2], tuple(dict.fromkeys(lines))))
        elif found := LABEL.match(text):
            labels[found[1]] = len(code)
    names = {place: name for name, place in labels.items()}
    targets = [labels.get(found[1]) if (found := TARGET.search(text)) else None for _, text, _ in code]
    listing, before = [], None
    for index, (address, text, lines) in enumerate(code):
        if index in names:
            listing.append(f"{names[index]}:")
        elif index > 0 and re.search(r"\b(BRA|BRX|EXIT|RET|BREAK)\b", code[index - 1][1]):
            listing.append("--")
        if lines and lines != before:
            listing.append("        // " + " | ".join(f"{line}: {source[line - 1].strip()[:110]}" for line in lines[:2]))
        before = lines
        listing.append(f"  {address:05x}  {text}")
    loops = [f"{len(code)} instructions; loops by first and last address, with their instructions:"]
    for end, begin in sorted(enumerate(targets), key=lambda of: (of[1] or 0, of[0])):
        if begin is not None and begin <= end:
            loops.append(f"  {code[begin][0]:05x} {code[end][0]:05x} {end - begin + 1:5}")
    return "\n".join(listing) + "\n", "\n".join(loops)


def build(folder: Path, args: argparse.Namespace) -> None:
    """Compiles the kernel in a folder."""
    cuda = translate(folder / "kernel.hlsl", folder, args.entry, args.bounds)
    cubin, log = compile_cuda(cuda, args.arch, args.option)
    (folder / "kernel.cubin").write_bytes(cubin)
    (folder / "ptxas.log").write_text(log)
    hlsl = (folder / "kernel.hlsl").read_text()
    about = {"entry": args.entry, "bindings": bindings(hlsl, cuda.read_text())}
    (folder / "kernel.json").write_text(json.dumps(about))
    print(f"{folder.name}: " + "; ".join(re.findall(r"(Used \d+ registers|\d+ bytes spill \w+)", log)))
    if tool := disassembler():
        command = [tool, "-c", "-gi", folder / "kernel.cubin"]
        sass = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        (folder / "kernel.sass").write_text(sass)
        listing, loops = annotate(sass, hlsl)
        (folder / "listing.sass").write_text(listing)
        if args.loops:
            print(loops)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+", help="folder with kernel.hlsl, to which all is written")
    parser.add_argument("--entry", default="run", help="entry point")
    parser.add_argument("--arch", default="sm_90", help="architecture of the GPU")
    parser.add_argument("--bounds", choices=BOUNDS, default="select", help="what is done about accesses out of bounds")
    parser.add_argument("--option", action="append", default=[], help="option of NVRTC, such as --maxrregcount=64")
    parser.add_argument("--loops", action="store_true", help="print the loops of the machine code")
    args = parser.parse_args()
    for folder in args.folders:
        build(folder, args)


if __name__ == "__main__":
    main()
