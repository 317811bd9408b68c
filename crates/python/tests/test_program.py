"""Programs, their symbols, and their code."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import kvrm
from conftest import GUESTS


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "no such file"
    with pytest.raises(kvrm.Error) as error:
        kvrm.Program.open(path)
    assert str(error.value) == f"cannot read {path}: No such file or directory (os error 2)"


def test_a_file_that_is_no_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "script"
    path.write_bytes(b"#!/bin/sh\n" * 10)
    with pytest.raises(kvrm.Error, match="ELF") as error:
        kvrm.Program.open(path)
    assert str(path) in str(error.value)


def test_an_unknown_system_is_refused() -> None:
    with pytest.raises(kvrm.Error, match='system "dos": expected "linux" or "semihosting"'):
        kvrm.Program.open(GUESTS / "sieve.elf", system="dos")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["sieve.elf", "sha256.elf"])
def test_bytes_make_the_same_program_as_their_file(name: str) -> None:
    path = GUESTS / name
    opened, loaded = kvrm.Program.open(path), kvrm.Program.from_bytes(path.read_bytes(), name)
    assert loaded.segments == opened.segments and loaded.symbols == opened.symbols
    assert (loaded.entry, loaded.system, loaded.name) == (opened.entry, "semihosting", name)


@pytest.mark.parametrize(
    "program",
    [
        kvrm.Program.open(GUESTS / "sieve.elf"),
        kvrm.Program.raw(b"\0\0\x40\xd4", 0x1000, 0x3000, "raw"),
        kvrm.Program.from_words([0xD4400000]),
        kvrm.Program.assemble("start: hlt #0; value: .quad 5", 0x2000),
    ],
    ids=["elf", "raw", "words", "assembly"],
)
def test_a_pickle_is_the_same_program(program: kvrm.Program) -> None:
    copy = pickle.loads(pickle.dumps(program))
    assert copy.segments == program.segments and copy.symbols == program.symbols
    assert repr(copy) == repr(program)


def test_symbols_have_places_in_segments(sieve: kvrm.Program) -> None:
    symbol = sieve.symbols["run"]
    assert symbol.kind == "function" and symbol.size > 0
    inside = [s for s in sieve.segments if s.address <= symbol.address < s.address + s.size]
    assert [s.permissions for s in inside] == ["r-x"]


def test_code_is_disassembled_by_function(sieve: kvrm.Program) -> None:
    symbol = sieve.symbols["run"]
    instructions = list(sieve.disassemble("run"))
    assert [i.address for i in instructions] == list(range(symbol.address, symbol.address + symbol.size, 4))
    assert "ret" in [i.text for i in instructions]
    assert list(sieve.disassemble(symbol.address, 3)) == instructions[:3]
    whole = {i.address: i for i in sieve.disassemble()}
    assert all(whole[i.address] == i for i in instructions)
    with pytest.raises(kvrm.Error, match="sieve.elf has no symbol 'runs'; there is run"):
        list(sieve.disassemble("runs"))


def test_text_is_assembled() -> None:
    program = kvrm.Program.assemble("start: b end\nvalue: .quad 5\nend: hlt #0", 0x2000)
    assert program.entry == 0x2000 and program.symbols["end"].kind == "function"
    assert program.symbol("value") == kvrm.Symbol("value", 0x2004, 8, "data")
    assert [i.text for i in program.disassemble("start")] == ["b 0x200c"]
    with pytest.raises(kvrm.Error, match='line 2: "lsr x0": expected'):
        kvrm.Program.assemble("hlt #0\nlsr x0")


def test_words_are_disassembled_at_their_address() -> None:
    (branch,) = kvrm.disassemble(0x14000001, 0x1000)
    assert branch.text == "b 0x1004"
    assert str(branch) == "    0x1000  14000001  b 0x1004"
