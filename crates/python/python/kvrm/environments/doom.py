"""DOOM: how it is started, and its variables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import _native
from ..program import Program

if TYPE_CHECKING:
    from .environments import VariableType

DOOM_VARIABLES: tuple[str, ...] = tuple(_native.doom_variables())
"""The variables of the game. Coordinates have 16 bits behind the binary point; an angle of 2^32 is a full turn, and 0 is east."""

PROGRAM_VARIABLE = "KVRM_DOOM"
"""The environment variable with the path of the program."""
_PROGRAM = "target/programs/doom"


@dataclass(frozen=True)
class Doom:
    """How DOOM is started: the level, and how it is drawn.

    ``cargo xtask guests --doom`` makes the program. A scenario is another level: 10,000 times the skill plus 100 times the episode
    plus the map.

    :param program: its path. By default it is the value of the environment variable ``KVRM_DOOM``, or ``target/programs/doom``.
    :param skill: from 1 to 5.
    :param episode: from 1. Games without episodes ignore it.
    :param map: from 1.
    :param monsters: whether there are any.
    :param blocks: the size of the view, from 3 to 11: it is 32 times as many pixels wide. With 11 there is no status bar.
    :param low_detail: whether the view has half as many columns, each two pixels wide.
    :param wad: the WAD with the game. By default it is the one in the program: the first phase of Freedoom.
    :param patches: WADs that replace and add parts of the game, such as levels.
    """

    program: str | os.PathLike[str] | None = None
    skill: int = 3
    episode: int = 1
    map: int = 1
    monsters: bool = True
    blocks: int = 10
    low_detail: bool = False
    wad: str | os.PathLike[str] | None = None
    patches: Sequence[str | os.PathLike[str]] = ()

    def open(self) -> tuple[Program, dict[str, object]]:
        """Returns the program and the options of the game.

        :raises kvrm.Error: the program cannot be read.
        """
        program = Program.open(self.program or os.environ.get(PROGRAM_VARIABLE) or _PROGRAM)
        game: dict[str, object] = {
            "skill": self.skill,
            "episode": self.episode,
            "map": self.map,
            "has_monsters": self.monsters,
            "blocks": self.blocks,
            "low_detail": self.low_detail,
            "wad": self.wad,
            "patches": list(self.patches),
        }
        return program, game

    @staticmethod
    def variable(name: str) -> tuple[VariableType, str]:
        """Returns the type and the symbol of a variable.

        :raises ValueError: the game has no such variable.
        """
        if name not in DOOM_VARIABLES:
            raise ValueError(f"variable {name!r}: expected one of {', '.join(DOOM_VARIABLES)}")
        return ("uint32" if name == "angle" else "int32", f"doom_{name}")
