"""Runs test vectors in Unicorn and prints the resulting states.

Reads JSON lines from standard input. A line with "words" asks which of these words are defined at EL0; any other line
is a test vector without outputs. Answers each with one JSON line. Unicorn is GPL: it is an oracle, and nothing links
it.
"""

import json
import sys

from unicorn import (UC_ARCH_ARM64, UC_ERR_EXCEPTION, UC_ERR_FETCH_PROT, UC_ERR_FETCH_UNMAPPED, UC_HOOK_INTR,
                     UC_MODE_ARM, UC_PROT_EXEC, UC_PROT_READ, UC_PROT_WRITE, Uc, UcError)
from unicorn import arm64_const as a64

CODE, DATA, DATA_BYTES = 0x1_0000, 0x3_0000, 0x2000
# QEMU's exception numbers.
UNDEFINED, SYSCALL, BREAKPOINT = 1, 2, 7
V = [getattr(a64, f"UC_ARM64_REG_Q{n}") for n in range(32)]
X = [getattr(a64, f"UC_ARM64_REG_X{n}") for n in range(31)]
FIELDS = {"sp": a64.UC_ARM64_REG_SP, "fpcr": a64.UC_ARM64_REG_FPCR, "fpsr": a64.UC_ARM64_REG_FPSR,
          "tpidr_el0": a64.UC_ARM64_REG_TPIDR_EL0}


class Oracle:
    def __init__(self, model):
        self.uc = Uc(UC_ARCH_ARM64, UC_MODE_ARM)
        self.uc.ctl_set_cpu_model(model)
        self.uc.mem_map(CODE, 0x1000, UC_PROT_READ | UC_PROT_EXEC)
        self.uc.mem_map(DATA, DATA_BYTES, UC_PROT_READ | UC_PROT_WRITE)
        self.uc.hook_add(UC_HOOK_INTR, self.interrupted)
        self.exception = None

    def interrupted(self, uc, number, _):
        self.exception = number
        uc.emu_stop()

    def load(self, code):
        self.uc.mem_write(CODE, bytes(0x1000))
        self.uc.mem_write(CODE, b"".join(word.to_bytes(4, "little") for word in code))
        self.uc.ctl_remove_cache(CODE, CODE + 0x1000)

    def run(self, steps):
        """Runs up to `steps` instructions and returns the name of the stop."""
        self.exception = None
        try:
            self.uc.emu_start(CODE, 0xFFFF_FFFF_FFFF_FFF0, count=steps)
        except UcError as error:
            # Unicorn fetches the target of a branch although the last step is done, so a fetch error is no fault.
            fetched = error.errno in (UC_ERR_FETCH_UNMAPPED, UC_ERR_FETCH_PROT, UC_ERR_EXCEPTION)
            return "budget" if fetched else "fault"
        known = {None: "budget", UNDEFINED: "undefined", SYSCALL: "syscall", BREAKPOINT: "breakpoint"}
        return known.get(self.exception, f"exception {self.exception}")

    def vector(self, vector):
        uc, init = self.uc, vector["init"]
        self.load([int(word, 16) for word in vector["code"]])
        memory = bytearray(DATA_BYTES)
        for piece in init.get("mem", []):
            at = int(piece["at"], 16) - DATA
            data = bytes.fromhex(piece["bytes"])
            memory[at:at + len(data)] = data
        uc.mem_write(DATA, bytes(memory))
        # PSTATE: EL0, with the flags of the vector.
        uc.reg_write(a64.UC_ARM64_REG_PSTATE, int(init.get("nzcv", "0"), 16) << 28)
        for n in range(31):
            uc.reg_write(X[n], int(init.get("x", {}).get(str(n), "0"), 16))
        for n in range(32):
            uc.reg_write(V[n], int(init.get("v", {}).get(str(n), "0"), 16))
        for name, register in FIELDS.items():
            uc.reg_write(register, int(init.get(name, "0"), 16))
        stop = self.run(vector["steps"])
        after = uc.mem_read(DATA, DATA_BYTES)
        final = {"x": {str(n): hex(uc.reg_read(X[n])) for n in range(31)}}
        final["v"] = {str(n): hex(uc.reg_read(V[n])) for n in range(32)}
        for name, register in FIELDS.items():
            final[name] = hex(uc.reg_read(register))
        final["nzcv"] = hex(uc.reg_read(a64.UC_ARM64_REG_PSTATE) >> 28 & 15)
        final["pc"] = hex(uc.reg_read(a64.UC_ARM64_REG_PC))
        final["stop"] = stop
        final["mem"] = changes(memory, after)
        return final

    def signed_extremum(self, vector, final):
        """Corrects the result of LDSMAX or LDSMIN of less than 64 bits, which Unicorn 2.1.4 compares as unsigned.

        Replaces the changes of memory by the manual's definition. The other results of Unicorn are right.
        """
        word, init = int(vector["code"][0], 16), vector["init"]
        size, smin = 1 << (word >> 30), word >> 12 & 7 == 5
        register = {str(n): int(value, 16) for n, value in init.get("x", {}).items()}
        base = word >> 5 & 31
        address = int(init["sp"], 16) if base == 31 else register.get(str(base), 0)
        memory = bytearray(DATA_BYTES)
        for piece in init["mem"]:
            at = int(piece["at"], 16) - DATA
            memory[at:at + len(piece["bytes"]) // 2] = bytes.fromhex(piece["bytes"])
        before = bytes(memory)
        operand = register.get(str(word >> 16 & 31), 0) & ((1 << 8 * size) - 1)
        at = address - DATA
        pair = [before[at:at + size], operand.to_bytes(size, "little")]
        chosen = (min if smin else max)(pair, key=lambda value: int.from_bytes(value, "little", signed=True))
        memory[at:at + size] = chosen
        final["mem"] = changes(before, memory)

    def defined(self, word):
        """Returns whether the word is an instruction. Its effects do not matter, so registers are not initialised."""
        self.load([word])
        self.uc.reg_write(a64.UC_ARM64_REG_PSTATE, 0)
        return self.run(1) != "undefined"


def changes(before, after):
    """Returns the ranges of memory that differ, with their new bytes."""
    pieces, start = [], None
    for at in range(DATA_BYTES + 1):
        differs = at < DATA_BYTES and before[at] != after[at]
        if differs and start is None:
            start = at
        elif not differs and start is not None:
            pieces.append({"at": hex(DATA + start), "bytes": bytes(after[start:at]).hex()})
            start = None
    return pieces


def main():
    base = Oracle(a64.UC_CPU_ARM64_A53)
    newest = Oracle(a64.UC_CPU_ARM64_MAX)
    for line in sys.stdin:
        request = json.loads(line)
        if "words" in request:
            answer = [base.defined(word) for word in request["words"]]
        else:
            features = set(request.get("features", [])) - {"fp", "aes", "pmull", "sha1", "sha256"}
            oracle = newest if features else base
            answer = oracle.vector(request)
            signed = request["name"].startswith(("LDSMAX", "LDSMIN")) and "_64_" not in request["name"]
            if signed and "beside" not in request["name"] and answer["stop"] == "budget":
                oracle.signed_extremum(request, answer)
        print(json.dumps(answer), flush=True)


main()
