"""Programs."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from . import _native
from .errors import Error

System = Literal["linux", "semihosting"]
"""The system whose calls a program makes."""


class Symbol(NamedTuple):
    """A function or a variable that the file of a program names."""

    name: str
    address: int
    size: int
    """The number of bytes; 0 if the file does not say."""
    kind: str
    """``function`` or ``data``."""


class Segment(NamedTuple):
    """A part of the memory of a program before its first step."""

    address: int
    size: int
    """The number of bytes."""
    data: bytes
    """The first bytes; the others are zero."""
    permissions: str
    """For instance ``r-x``."""


class Instruction(NamedTuple):
    """A disassembled word."""

    address: int
    word: int
    text: str

    def __str__(self) -> str:
        return f"{self.address:#10x}  {self.word:08x}  {self.text}"


def disassemble(words: int | Sequence[int], address: int = 0) -> list[Instruction]:
    """Disassembles words, the first of which is at ``address``.

    >>> import kvrm
    >>> kvrm.disassemble([0xd2800540, 0xd4400000], 0x1000)[0].text
    'mov x0, #0x2a'
    """
    words = [words] if isinstance(words, int) else words
    places = range(address, address + 4 * len(words), 4)
    return [
        Instruction(place, int(word), _native.disassemble(int(word), place))
        for place, word in zip(places, words, strict=True)
    ]


class Program:
    """The memory of a guest before its first step. Programs can be pickled.

    Make one with :meth:`open`, :meth:`from_bytes`, :meth:`assemble`, :meth:`from_words` or :meth:`raw`.
    """

    def __init__(self, native: _native.Program) -> None:
        self.native = native

    @staticmethod
    def open(path: str | os.PathLike[str], system: System | None = None) -> Program:
        """Reads an ELF file: static, 64-bit, little-endian, for AArch64.

        :param system: by default the file says whether it is for Linux or for Arm semihosting.
        :raises kvrm.Error: the file cannot be read, or is no such program.
        """
        return Program(_native.Program.open(path, system))

    @staticmethod
    def from_bytes(file: bytes, name: str = "program", system: System | None = None) -> Program:
        """Loads the bytes of an ELF file. ``name`` is the first argument that the guest sees."""
        return Program(_native.Program.from_bytes(name, file, system))

    @staticmethod
    def assemble(text: str, address: int = 0x1000) -> Program:
        """Assembles a program from text, as :func:`disassemble` prints it, with labels and directives. Labels become symbols.

        >>> import kvrm
        >>> program = kvrm.Program.assemble("again: subs x0, x0, #1; b.ne again; hlt #0")
        >>> [str(instruction) for instruction in program.disassemble("again")]
        ['    0x1000  f1000400  subs x0, x0, #0x1', '    0x1004  54ffffe1  b.ne 0x1000', '    0x1008  d4400000  hlt #0x0']

        :param address: the address of the first instruction, where execution begins: a multiple of 4.
        :raises kvrm.Error: a line is not understood; the text says which, and what was expected.
        """
        return Program(_native.Program.assemble(text, address))

    @staticmethod
    def from_words(words: Sequence[int], address: int = 0x1000) -> Program:
        """Makes a program of instruction words, the first of which is at ``address``, a multiple of 4."""
        data = np.asarray(words, dtype="<u4").tobytes()
        return Program(_native.Program.raw("program", data, address, 0))

    @staticmethod
    def raw(data: bytes, address: int, memory: int = 0, name: str = "program") -> Program:
        """Makes a program of raw bytes at ``address``, where it begins. All its memory may be read, written and executed.

        :param memory: the size of the memory in bytes, if it is more than the data.
        """
        return Program(_native.Program.raw(name, data, address, memory))

    @property
    def name(self) -> str:
        """The name that the guest sees as its first argument."""
        return self.native.name

    @property
    def entry(self) -> int:
        """The address of the first instruction."""
        return self.native.entry

    @property
    def system(self) -> str:
        """The system whose calls it makes: ``linux`` or ``semihosting``."""
        return self.native.system

    @property
    def symbols(self) -> dict[str, Symbol]:
        """The functions and variables that the file names. If several have a name, it is the one with the lowest address."""
        rows = [Symbol(*row) for row in self.native.symbols()]
        return {symbol.name: symbol for symbol in reversed(rows)}

    @property
    def segments(self) -> list[Segment]:
        """The memory before the first step."""
        return [Segment(*row) for row in self.native.segments()]

    def symbol(self, name: str) -> Symbol:
        """Returns a function or a variable.

        :raises kvrm.Error: the file names no such symbol.
        """
        symbol = self.symbols.get(name)
        if symbol is None:
            near = difflib.get_close_matches(name, self.symbols, 3)
            hint = f"; there is {' and '.join(near)}" if near else ""
            raise Error(f"{self.name} has no symbol {name!r}{hint}")
        return symbol

    def disassemble(self, place: int | str | None = None, count: int | None = None) -> Iterator[Instruction]:
        """Disassembles code.

        :param place: an address or the name of a function. By default it is all executable memory.
        :param count: the number of words. By default it is up to the end of the function, or of the segment.
        :raises kvrm.Error: there is no such function.
        """
        end = 1 << 64
        if isinstance(place, str):
            symbol = self.symbol(place)
            place = symbol.address
            if symbol.size and count is None:
                end = symbol.address + symbol.size
        for segment in self.segments:
            if "x" not in segment.permissions:
                continue
            first = segment.address if place is None else place
            if not segment.address <= first < segment.address + len(segment.data):
                continue
            data = segment.data[first - segment.address : end - segment.address]
            words = np.frombuffer(data[: len(data) // 4 * 4], dtype="<u4")[:count]
            yield from disassemble(words.tolist(), first)

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        return (_unpickle, (self.native.pickle(),))

    def __repr__(self) -> str:
        return f"Program({self.name!r}, {self.system}, entry={self.entry:#x})"


def _unpickle(pickle: bytes) -> Program:
    """Makes a program from its pickle."""
    return Program(_native.Program.unpickle(pickle))
