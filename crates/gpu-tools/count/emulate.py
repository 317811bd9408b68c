#!/usr/bin/env python3
"""Runs the machine code of an interpreter on the CPU, lane after lane, and counts its instructions. Needs a C compiler.

It knows the instructions that interpreters for sm_90 have, and stops at others. Lanes run alone, as in workgroups of one
lane: it cannot say what lanes cost that share a warp.
"""

import argparse
import collections
import ctypes
import json
import re
import struct
import subprocess
from pathlib import Path

from run import contents_of, with_steps

PRELUDE = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef uint32_t u; typedef int32_t s; typedef uint64_t U; typedef int64_t S;
static u R[256], UR[64], L[65536]; static int P[8], UP[8];
static unsigned char BANK[6][4096];
static u c32(int bank, u at) { u v; memcpy(&v, BANK[bank] + (at & 4095), 4); return v; }
static U c64(int bank, u at) { U v; memcpy(&v, BANK[bank] + (at & 4095), 8); return v; }
static U pair(const u* r, int n) { return r[n] | (U)r[n + 1] << 32; }
static u lop(u a, u b, u c, int lut) {
    u v = 0;
    for (int i = 0; i < 8; i++)
        if (lut >> i & 1) v |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
    return v;
}
static int plop(int a, int b, int c, int lut) { return lut >> (!!a << 2 | !!b << 1 | !!c) & 1; }
static u prmt(u a, u m, u b) {
    U all = a | (U)b << 32; u v = 0;
    for (int i = 0; i < 4; i++) {
        u n = m >> 4 * i & 15; u x = (all >> 8 * (n & 7)) & 255;
        if (n & 8) x = x & 128 ? 255 : 0;
        v |= x << 8 * i;
    }
    return v;
}
static U shl(U v, u n) { return n > 63 ? 0 : v << n; }
static U shr(U v, u n) { return n > 63 ? 0 : v >> n; }
static U sar(U v, u n) { return (U)((S)v >> (n > 63 ? 63 : n)); }
static u bits(float f) { u v; memcpy(&v, &f, 4); return v; }
static float flt(u v) { float f; memcpy(&f, &v, 4); return f; }
static float up(u v) { float f = (float)v; if ((double)f < v) { u b = bits(f) + 1; f = flt(b); } return f; }
static u flo(u v) { return v ? 31 - __builtin_clz(v) : ~0u; }
static u brev(u v) { u r = 0; for (int i = 0; i < 32; i++) r |= (v >> i & 1) << (31 - i); return r; }
static u p2r(u mask) { u v = 0; for (int i = 0; i < 7; i++) v |= (u)!!P[i] << i; return v & mask; }
static void r2p(u v, u mask) { for (int i = 0; i < 7; i++) if (mask >> i & 1) P[i] = v >> i & 1; }
static void unknown(const char* text) { fprintf(stderr, "unknown instruction: %s\n", text); exit(1); }
static void* at(U address) { return (void*)address; }
static u* local(u address) { if (address / 4 >= sizeof L / 4 - 4) { fprintf(stderr, "local %x\n", address); exit(1); } return L + address / 4; }
U COUNT[200000];
"""


class Unknown(Exception):
    """An instruction that is not known."""


def split_operands(text: str) -> list[str]:
    """Splits operands at commas."""
    text = re.sub(r"\(\*.*?\*\)", "", text)
    return [part.strip().replace(".reuse", "") for part in text.split(",")] if text.strip() else []


def is_predicate(text: str) -> bool:
    """Returns whether an operand is a predicate."""
    return bool(re.fullmatch(r"!?U?P(\d|T)", text))


def predicate(text: str) -> str:
    """Returns the C of a predicate."""
    sign, name = ("!", text[1:]) if text[0] == "!" else ("", text)
    if name in ("PT", "UPT"):
        return f"({sign}1)"
    return f"({sign}{'UP' if name[0] == 'U' else 'P'}[{name[-1]}])"


def set_predicate(text: str, value: str) -> str:
    """Returns the C that sets a predicate."""
    return "" if text in ("PT", "UPT") else f"{'UP' if text[0] == 'U' else 'P'}[{text[-1]}] = !!({value});"


def register(text: str) -> tuple[str, int] | None:
    """Returns the array and the number of a register; `None` if it is the one that is always zero."""
    if text in ("RZ", "URZ", "SRZ"):
        return None
    found = re.fullmatch(r"(U?R)(\d+)", text)
    if not found:
        raise Unknown(text)
    return found[1], int(found[2])


def constant(text: str, wide: bool) -> str:
    """Returns the C of a constant in a bank."""
    found = re.fullmatch(r"c\[(0x[0-9a-f]+)\]\s*\[(.*)\]", text)
    parts = []
    for part in re.findall(r"[+-]?[^+-]+", found[2]):
        part = part.lstrip("+")
        parts.append(value(part) if "R" in part else part)
    return f"c{64 if wide else 32}({int(found[1], 16)}, {'+'.join(parts)})"


def value(text: str, wide: bool = False) -> str:
    """Returns the C of an operand without its sign."""
    text = text.removesuffix(".64").removesuffix(".U32")
    if text.startswith("c["):
        return constant(text, wide)
    if re.fullmatch(r"-?0x[0-9a-f]+|-?\d+", text):
        number = int(text, 0)
        return f"{number & (2**64 - 1)}ull" if wide else f"{number & 0xFFFFFFFF}u"
    if (found := register(text)) is None:
        return "0u"
    return f"pair({found[0]}, {found[1]})" if wide else f"{found[0]}[{found[1]}]"


def signed(text: str, wide: bool = False) -> tuple[str, int]:
    """Returns the C of an operand, and what is to be added to it: 1 for a negated one, whose complement is returned."""
    if re.fullmatch(r"-?0x[0-9a-f]+", text):
        return value(text, wide), 0
    if text[0] == "-":
        return f"(~{value(text[1:], wide)})", 1
    if text[0] == "~":
        return f"(~{value(text[1:], wide)})", 0
    return value(text, wide), 0


def full(text: str, wide: bool = False) -> str:
    """Returns the C of an operand with its sign."""
    c, more = signed(text, wide)
    return f"({'U' if wide else 'u'})({c} + {more}u)" if more else c


def store(text: str, c: str) -> str:
    """Returns the C that sets a register."""
    found = register(text)
    return f"(void)({c});" if found is None else f"{found[0]}[{found[1]}] = (u)({c});"


def store_wide(text: str, c: str) -> str:
    """Returns the C that sets two registers."""
    found = register(text)
    if found is None:
        return f"(void)({c});"
    array, number = found
    return f"{{ U v_ = {c}; {array}[{number}] = (u)v_; {array}[{number + 1}] = (u)(v_ >> 32); }}"


def address(text: str) -> str:
    """Returns the C of an address in memory."""
    inner = re.search(r"\[([^\[\]]*)\]$", text)[1]
    parts = []
    for part in re.findall(r"[+-]?[^+-]+", inner):
        sign = "-" if part[0] == "-" else "+"
        part = part.lstrip("+-")
        if "R" in part:
            parts.append(f"{sign} {value(part, part.endswith('.64') or (part[0] == 'U' and 'desc' in text))}")
        else:
            parts.append(f"{sign} {part}")
    return "(" + " ".join(parts).lstrip("+ ") + ")"


SIZES = {"64": 2, "128": 4}


def words(parts: list[str]) -> int:
    """Returns the number of words of a load or store."""
    return next((SIZES[part] for part in parts if part in SIZES), 1)


def compare(parts: list[str], ops: list[str]) -> str:
    """Returns the C of ISETP."""
    relation = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}[parts[1]]
    kind = "u" if "U32" in parts else "s"
    both = next(part for part in parts if part in ("AND", "OR", "XOR"))
    combine = {"AND": "&&", "OR": "||", "XOR": "!="}[both]
    a, b = (f"({kind})({full(op)})" for op in ops[2:4])
    if "EX" in parts:
        low = predicate(ops[5])
        strict = {"==": None, "!=": None, "<": "<", "<=": "<", ">": ">", ">=": ">"}[relation]
        if relation == "==":
            c = f"({a} == {b} && {low})"
        elif relation == "!=":
            c = f"({a} != {b} || {low})"
        else:
            c = f"({a} {strict} {b} || ({a} == {b} && {low}))"
    else:
        c = f"({a} {relation} {b})"
    other = predicate(ops[4])
    first = set_predicate(ops[0], f"(r_) {combine} {other}")
    second = set_predicate(ops[1], f"(!r_) {combine} {other}")
    return f"{{ int r_ = {c}, q_ = {other}; (void)q_; {first.replace(other, 'q_', 1) if first else ''} {second.replace(other, 'q_', 1) if second else ''} }}"


def shift(parts: list[str], ops: list[str]) -> str:
    """Returns the C of SHF."""
    low, amount, high = (full(op) for op in ops[1:4])
    wide = f"((U){low} | (U){high} << 32)"
    is_high, wraps = "HI" in parts, "W" in parts
    is_64 = "U64" in parts or "S64" in parts
    amount = f"({amount} & {63 if is_64 else 31})" if wraps else amount
    if "L" == parts[1]:
        if is_high:
            c = f"shl({wide}, {amount}) >> 32" if is_64 else f"shl({wide}, {amount} > 32 ? 32 : {amount}) >> 32"
        else:
            c = f"shl({low}, {amount})"
    else:
        by = "sar" if "S32" in parts or "S64" in parts else "shr"
        if is_64:
            c = f"{by}({wide}, {amount})"
            c = f"({c}) >> 32" if is_high else c
        elif is_high:
            c = f"shr({high}, {amount})" if by == "shr" else f"((s){high} >> ({amount} > 31 ? 31 : {amount}))"
        else:
            c = f"{by}({wide}, {amount} > 32 ? 32 : {amount})"
    return store(ops[0], c)


def translate(text: str, ends: dict[str, int], following: int, tables: dict[int, str]) -> str:
    """Returns the C of an instruction."""
    condition = ""
    if found := re.match(r"@(!?U?P[0-6T])\s+(.*)", text):
        condition, text = predicate(found[1]), found[2]
    name, _, rest = text.partition(" ")
    parts, ops = name.split("."), split_operands(rest)
    c = operation(parts, ops, text, following)
    return f"if ({condition}) {{ {c} }}" if condition else f"{{ {c} }}"


def operation(parts: list[str], ops: list[str], text: str, following: int) -> str:
    """Returns the C of an instruction without its condition."""
    kind = parts[0]
    if kind not in ("ULDC", "UNSPECIFIED") and kind[0] == "U" and kind[1:] in (
        "IADD3", "MOV", "SEL", "ISETP", "LOP3", "SHF", "IMAD", "LEA", "PLOP3", "PRMT", "FLO", "BREV", "POPC", "SGXT"
    ):
        kind = kind[1:]
        parts = [kind, *parts[1:]]
    if kind in ("BSSY", "BSYNC", "NOP", "YIELD", "WARPSYNC", "BREAK", "DEPBAR", "BMOV"):
        return ""
    if kind == "EXIT":
        return "goto done;"
    if kind == "BRA":
        target = re.search(r"\((\.L_x_\d+)\)", text)[1]
        conditions = [predicate(op) for op in ops if is_predicate(op)]
        jump = f"goto {label(target)};"
        return f"if ({' && '.join(conditions)}) {jump}" if conditions else jump
    if kind == "BRX":
        found = re.match(r"BRX (\w+) (-?0x[0-9a-f]+)?", text)
        targets = re.findall(r"\.L_x_\d+", text)
        cases = " ".join(f"case PLACE_{target[1:]}: goto {label(target)};" for target in dict.fromkeys(targets))
        return f"switch ((u)({value(found[1])} + {int(found[2] or '0', 16)} + {following})) {{ {cases} default: unknown(\"{text.split('(')[0]}\"); }}"
    if kind in ("LDC", "ULDC"):
        return store_wide(ops[0], constant(ops[1], True)) if "64" in parts else store(ops[0], constant(ops[1], False))
    if kind in ("MOV", "R2UR"):
        return store(ops[0], full(ops[1]))
    if kind == "CS2R":
        if ops[1] != "SRZ":
            raise Unknown(text)
        return store(ops[0], "0") if "32" in parts else store_wide(ops[0], "0")
    if kind in ("S2R", "S2UR"):
        special = {"SR_TID.X": "tid", "SR_CTAID.X": "ctaid", "SR_LANEID": "0", "SR_LTMASK": "0", "SR_EQMASK": "1"}
        return store(ops[0], special[ops[1]])
    if kind in ("IADD3", "VIADD"):
        carries = [op for op in ops[1:3] if kind == "IADD3" and is_predicate(op)]
        rest = ops[1 + len(carries) :]
        terms = [signed(op) for op in rest[:3] if not is_predicate(op)]
        ins = [predicate(op) for op in rest if is_predicate(op)] if "X" in parts else []
        total = " + ".join([f"(U)(u)({c})" for c, _ in terms] + [str(sum(more for _, more in terms)), *ins])
        out = "".join(set_predicate(op, f"(t_ >> 32) > {index}") for index, op in enumerate(carries))
        return f"{{ U t_ = {total}; {store(ops[0], 't_')} {out} }}"
    if kind == "IMAD":
        is_x = "X" in parts
        rest, carry = ops[1:], None
        if is_predicate(rest[0]):
            carry, rest = rest[0], rest[1:]
        a, b = full(rest[0]), full(rest[1])
        into = predicate(rest[3]) if is_x and len(rest) > 3 else "0"
        if "WIDE" in parts:
            third = full(rest[2], True)
            product = f"(U){a} * {b}" if "U32" in parts else f"(U)((S)(s){a} * (s){b})"
            out = set_predicate(carry, f"t_ < (U)({product})") if carry else ""
            return f"{{ U t_ = {product} + {third} + {into}; {out} {store_wide(ops[0], 't_')} }}"
        if "HI" in parts:
            return store(ops[0], f"((U){a} * {b} + {full(rest[2], True)}) >> 32")
        third, more = signed(rest[2])
        out = set_predicate(carry, "t_ >> 32") if carry else ""
        return f"{{ U t_ = (U)(u)({a} * {b}) + (u)({third}) + {more} + {into}; {store(ops[0], 't_')} {out} }}"
    if kind == "LEA":
        rest, carry = ops[1:], None
        if is_predicate(rest[0]):
            carry, rest = rest[0], rest[1:]
        into = predicate(rest[-1]) if is_predicate(rest[-1]) and "X" in parts else "0"
        rest = [op for op in rest if not is_predicate(op)]
        by = int(rest[-1], 0)
        base, more = signed(rest[1])
        if "HI" in parts:
            if "SX32" in parts:
                moved = f"(u)((U)((S)(s){full(rest[0])} << {by}) >> 32)"
            else:
                moved = f"(u)((((U){full(rest[0])} | (U){full(rest[2])} << 32) << {by}) >> 32)"
        else:
            moved = f"(u)({full(rest[0])} << {by})"
        out = set_predicate(carry, "t_ >> 32") if carry else ""
        return f"{{ U t_ = (U){moved} + (u)({base}) + {more} + {into}; {store(ops[0], 't_')} {out} }}"
    if kind == "LOP3":
        out = None
        if is_predicate(ops[0]):
            out, ops = ops[0], ops[1:]
        a, b, c = (full(op) for op in ops[1:4])
        # The last operand is combined with whether the result is not zero.
        also = f"t_ {'&&' if 'PAND' in parts else '||'} {predicate(ops[5])}" if len(ops) > 5 else "t_"
        set_out = set_predicate(out, also) if out else ""
        return f"{{ u t_ = lop({a}, {b}, {c}, {ops[4]}); {set_out} {store(ops[0], 't_')} }}"
    if kind == "PLOP3":
        a, b, c = (predicate(op) for op in ops[2:5])
        first = set_predicate(ops[0], "p_")
        second = set_predicate(ops[1], "q_")
        return f"{{ int p_ = plop({a}, {b}, {c}, {ops[5]}), q_ = plop({a}, {b}, {c}, {ops[6]}); (void)p_; (void)q_; {first} {second} }}"
    if kind == "ISETP":
        return compare(parts, ops)
    if kind == "SEL":
        return store(ops[0], f"{predicate(ops[3])} ? {full(ops[1])} : {full(ops[2])}")
    if kind == "SHF":
        return shift(parts, ops)
    if kind == "PRMT":
        return store(ops[0], f"prmt({full(ops[1])}, {full(ops[2])}, {full(ops[3])})")
    if kind in ("VIMNMX", "VIADDMNMX"):
        of = "u" if "U32" in parts else "s"
        a = f"({of})({full(ops[1])} + {full(ops[2])})" if kind == "VIADDMNMX" else f"({of})({full(ops[1])})"
        b = f"({of})({full(ops[3] if kind == 'VIADDMNMX' else ops[2])})"
        return f"{{ {of} a_ = {a}, b_ = {b}; {store(ops[0], f'({predicate(ops[-1])}) ? (a_ < b_ ? a_ : b_) : (a_ > b_ ? a_ : b_)')} }}"
    if kind == "FLO":
        c = f"flo({full(ops[1])})"
        return store(ops[0], f"31 - {c}" if "SH" in parts else c)
    if kind == "POPC":
        return store(ops[0], f"__builtin_popcount({full(ops[1])})")
    if kind == "BREV":
        return store(ops[0], f"brev({full(ops[1])})")
    if kind == "SGXT":
        width = full(ops[2])
        if "U32" in parts:
            return store(ops[0], f"{width} > 31 ? {full(ops[1])} : {full(ops[1])} & ((1u << ({width} & 31)) - 1)")
        return store(ops[0], f"{width} > 31 ? {full(ops[1])} : (u)((s)({full(ops[1])} << (32 - {width})) >> (32 - {width}))")
    if kind == "I2F" and "U32" in parts:
        return store(ops[0], f"bits(up({full(ops[1])}))")
    if kind == "MUFU" and "RCP" in parts:
        return store(ops[0], f"bits(1.0f / flt({full(ops[1])}))")
    if kind == "F2I" and "U32" in parts:
        return store(ops[0], f"(u)flt({full(ops[1])})")
    if kind == "P2R":
        return store(ops[0], f"{full(ops[2])} & ~{value(ops[3])} | p2r({value(ops[3])})")
    if kind == "R2P":
        return f"r2p({full(ops[1])}, {value(ops[2])});"
    if kind in ("VOTE", "VOTEU"):
        out = "".join(set_predicate(op, predicate(ops[-1])) for op in ops[:-1] if is_predicate(op))
        targets = [op for op in ops[:-1] if not is_predicate(op)]
        return out + "".join(store(op, f"{predicate(ops[-1])} ? 1 : 0") for op in targets)
    if kind == "SHFL":
        # A lane alone: it gets its own value, and `UP` says that there is no other.
        out = set_predicate(ops[0], "0" if parts[1] == "UP" else "1")
        return store(ops[1], full(ops[2])) + out
    if kind in ("LDG", "LD"):
        count, place = words(parts), address(ops[1])
        if any(part in ("U8", "S8", "U16", "S16") for part in parts):
            raise Unknown(text)
        found = register(ops[0])
        return f"{{ u* m_ = at({place}); u w_[4]; memcpy(w_, m_, {4 * count}); " + "".join(
            f"{found[0]}[{found[1] + index}] = w_[{index}];" for index in range(count if found else 0)
        ) + " }"
    if kind in ("STG", "ST"):
        count, place = words(parts), address(ops[0])
        found = register(ops[1])
        source = [f"{found[0]}[{found[1] + index}]" if found else "0" for index in range(count)]
        return f"{{ u* m_ = at({place}); u w_[4] = {{ {', '.join(source)} }}; memcpy(m_, w_, {4 * count}); }}"
    if kind in ("LDL", "STL"):
        count = words(parts)
        if kind == "LDL" and "U8" in parts:
            place = f"(u){address(ops[1])}"
            return store(ops[0], f"*local({place}) >> 8 * ({place} & 3) & 255")
        if any(part in ("U8", "S8", "U16", "S16") for part in parts):
            raise Unknown(text)
        if kind == "LDL":
            found, place = register(ops[0]), address(ops[1])
            return f"{{ u* m_ = local((u){place}); u w_[4]; memcpy(w_, m_, {4 * count}); " + "".join(
                f"{found[0]}[{found[1] + index}] = w_[{index}];" for index in range(count if found else 0)
            ) + " }"
        found, place = register(ops[1]), address(ops[0])
        source = [f"{found[0]}[{found[1] + index}]" if found else "0" for index in range(count)]
        return f"{{ u* m_ = local((u){place}); u w_[4] = {{ {', '.join(source)} }}; memcpy(m_, w_, {4 * count}); }}"
    if kind == "REDG" and "ADD" in parts:
        return f"{{ u* m_ = at({address(ops[0])}); *m_ += {full(ops[1])}; }}"
    if kind == "ATOMG" and "ADD" in parts:
        return f"{{ u* m_ = at({address(ops[2])}); u o_ = *m_; *m_ += {full(ops[3])}; {store(ops[1], 'o_')} }}"
    raise Unknown(text)


def label(name: str) -> str:
    """Returns the C label of a label."""
    return "L_" + name[1:].replace(".", "_")


def constant_section(cubin: bytes, name: bytes) -> bytes:
    """Returns the contents of a section of an ELF file; nothing if it has no such section."""
    offset, = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, offset + size * index) for index in range(count)]
    strings = sections[names][4]
    for section in sections:
        start = strings + section[0]
        if cubin[start : cubin.index(b"\0", start)] == name and section[1] != 8:
            return cubin[section[4] : section[4] + section[5]]
    return b""


def to_c(sass: str) -> tuple[str, list[tuple[int, str]]]:
    """Translates machine code to C. Returns the instructions, too."""
    code, labels, pending = [], {}, []
    for line in sass.splitlines():
        if found := re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*(?:/\*.*)?$", line):
            text = re.sub(r"\s+;.*$", "", found[2]).rstrip("; ")
            place = int(found[1], 16)
            labels.update({name: place for name in pending})
            pending = []
            code.append((place, re.sub(r"`", "", text)))
        elif found := re.match(r"(\.L_x_\d+):", line):
            pending.append(found[1])
    lines = [PRELUDE]
    lines += [f"enum {{ PLACE_{name[1:]} = {place} }};" for name, place in labels.items()]
    lines.append("int run(u tid, u ctaid, unsigned char banks[6][4096], U* counts) {")
    lines.append("    memcpy(BANK, banks, sizeof BANK); memset(L, 0, sizeof L); (void)tid;")
    names = collections.defaultdict(list)
    for name, place in labels.items():
        names[place].append(name)
    for index, (place, text) in enumerate(code):
        lines += [f"{label(name)}:;" for name in names[place]]
        following = place + 16
        try:
            c = translate(text, labels, following, {})
        except Unknown:
            c = f'unknown("{place:x} {text}");'
        lines.append(f"    counts[{index}]++; {c} // {place:x} {text}")
    lines.append("done: return 0;\n}")
    return "\n".join(lines) + "\n", code


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel", type=Path, help="folder of a compiled kernel")
    parser.add_argument("slice", type=Path, help="folder of a slice")
    parser.add_argument("--steps", type=int, help="steps of each lane, instead of those of the slice")
    parser.add_argument("--lanes", type=int, help="number of lanes to run, instead of all")
    parser.add_argument("--listing", type=Path, help="file for the listing with the executions of each instruction a step")
    parser.add_argument("--state", type=Path, help="file for the state of lanes after the slice")
    args = parser.parse_args()
    about = json.loads((args.slice / "slice.json").read_text())
    compiled = json.loads((args.kernel / "kernel.json").read_text())
    source, code = to_c((args.kernel / "kernel.sass").read_text())
    (args.kernel / "emulated.c").write_text(source)
    library = args.kernel / "emulated.so"
    command = ["cc", "-O1", "-w", "-fno-strict-aliasing", "-fwrapv", "-shared", "-fPIC", "-o", library]
    subprocess.run([*command, args.kernel / "emulated.c"], check=True)
    run = ctypes.CDLL(str(library.resolve())).run

    steps = args.steps or about["steps"]
    buffers = {}
    for buffer in about["buffers"]:
        contents = contents_of(args.slice, buffer["name"])
        contents = with_steps(contents, steps) if buffer["name"] == "parameters" else contents
        memory = ctypes.create_string_buffer(buffer["bytes"])
        ctypes.memmove(memory, contents, len(contents))
        buffers[buffer["binding"]] = memory
    banks = bytearray(6 * 4096)
    # The size of a workgroup, and the end of local memory.
    banks[0:4] = (1).to_bytes(4, "little")
    banks[0x28:0x2C] = (65536 * 2).to_bytes(4, "little")
    table = b"".join(
        ctypes.addressof(buffers[binding]).to_bytes(8, "little") + len(buffers[binding]).to_bytes(8, "little")
        for binding in compiled["bindings"]
    )
    banks[3 * 4096 : 3 * 4096 + len(table)] = table
    jumps = constant_section((args.kernel / "kernel.cubin").read_bytes(), b".nv.constant2.run")
    banks[2 * 4096 : 2 * 4096 + len(jumps)] = jumps
    raw = (ctypes.c_ubyte * len(banks)).from_buffer(banks)
    counts = (ctypes.c_uint64 * len(code))()
    number = next(buffer["binding"] for buffer in about["buffers"] if buffer["name"] == "counters")
    counters = memoryview(buffers[number]).cast("B").cast("I")
    lanes = min(args.lanes or about["lanes"], about["lanes"])
    for lane in range(lanes):
        run(0, lane, raw, counts)
    retired = counters[about["counters"]["steps"]] | counters[about["counters"]["steps_high"]] << 32
    print(f"{retired} of {lanes * steps} steps; {sum(counts) / max(retired, 1):.2f} instructions a step")
    if args.state:
        args.state.write_bytes(next(buffers[of["binding"]] for of in about["buffers"] if of["name"] == "state"))
    kinds = collections.Counter()
    for (_, text), count in zip(code, counts):
        name = re.sub(r"^@!?U?P[0-9T]\s+", "", text).split(" ")[0]
        kinds[name] += count
    print(", ".join(f"{name} {count / max(retired, 1):.2f}" for name, count in kinds.most_common(24)))
    if args.listing:
        of = {place: count / max(retired, 1) for (place, _), count in zip(code, counts)}
        lines = []
        for line in (args.kernel / "listing.sass").read_text().splitlines():
            found = re.match(r"  ([0-9a-f]+)  ", line)
            share = of.get(int(found[1], 16), 0) if found else 0
            lines.append(f"{share:8.4f}{line}" if share else f"        {line}")
        args.listing.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
