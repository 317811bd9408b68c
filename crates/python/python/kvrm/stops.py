"""Why lanes have stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _native

NAMES: tuple[str, ...] = tuple(_native.stop_names())
"""The kinds of stops."""

_NONE = 255
_ACCESSES = ("read", "write", "execute")
_FAULTS = ("translation", "permission", "alignment")


@dataclass(frozen=True)
class Stop:
    """Why a lane has stopped. ``str(stop)`` says it in words."""

    kind: str
    """One of :data:`NAMES`, such as ``exit``, ``fault`` or ``budget``."""
    value: int = 0
    """The status of an exit, the immediate of an instruction, an undefined word, the address of a fault or of a watchpoint, or the
    number of a call."""
    access: str | None = None
    """Of a fault or a watchpoint: ``read``, ``write`` or ``execute``."""
    fault: str | None = None
    """Of a fault: ``translation``, ``permission`` or ``alignment``."""

    def __str__(self) -> str:
        access = 0 if self.access is None else _ACCESSES.index(self.access)
        fault = 0 if self.fault is None else _FAULTS.index(self.fault)
        return _native.stop_text(NAMES.index(self.kind), self.value % (1 << 64), 4 * access + fault)


class Stops(Sequence["Stop | None"]):
    """The stops of all lanes. A lane that has not run has ``None``.

    ``stops == "exit"`` is a mask of the lanes that have exited, which :meth:`kvrm.Machine.reset` takes.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, kinds: NDArray[np.uint8], values: NDArray[np.uint64], details: NDArray[np.uint8]
    ) -> None:
        self._kinds = kinds
        self._details = details
        self.values: NDArray[np.uint64] = values
        """The value of each stop, as in :class:`Stop`, but the status of an exit modulo 2^64. Shape: lanes."""

    @property
    def kinds(self) -> NDArray[np.str_]:
        """The kind of each stop; empty for lanes without one. Shape: lanes."""
        names = np.array([*NAMES, ""])
        return names[np.minimum(self._kinds, len(NAMES))]

    @property
    def statuses(self) -> NDArray[np.int32]:
        """The exit status of each lane; 0 for lanes that have not exited. Shape: lanes."""
        values = self.values.astype(np.int64).astype(np.int32)
        return np.where(self == "exit", values, np.int32(0))

    def counts(self) -> dict[str, int]:
        """Returns the number of lanes with each kind of stop."""
        kinds, counts = np.unique(self._kinds[self._kinds != _NONE], return_counts=True)
        return {NAMES[kind]: int(count) for kind, count in zip(kinds, counts, strict=True)}

    def __len__(self) -> int:
        return len(self._kinds)

    @overload
    def __getitem__(self, lane: int) -> Stop | None: ...
    @overload
    def __getitem__(self, lane: slice) -> Stops: ...
    def __getitem__(self, lane: int | slice) -> Stop | None | Stops:
        if isinstance(lane, slice):
            return Stops(self._kinds[lane], self.values[lane], self._details[lane])
        number, detail = int(self._kinds[lane]), int(self._details[lane])
        if number == _NONE:
            return None
        kind, value = NAMES[number], int(self.values[lane])
        if kind == "exit" and value >> 63:
            value -= 1 << 64
        access = _ACCESSES[detail // 4] if kind in ("fault", "watchpoint") else None
        return Stop(kind, value, access, _FAULTS[detail % 4] if kind == "fault" else None)

    def __iter__(self) -> Iterator[Stop | None]:
        return (self[lane] for lane in range(len(self)))

    def __eq__(self, other: object) -> Any:
        """Compares with the name of a kind, and returns a mask; or with other stops, and returns whether all are equal."""
        if isinstance(other, str):
            if other not in NAMES:
                raise ValueError(f"stop {other!r}: expected one of {', '.join(NAMES)}")
            return self._kinds == NAMES.index(other)
        if isinstance(other, Stops):
            return (
                np.array_equal(self._kinds, other._kinds)
                and np.array_equal(self.values, other.values)
                and np.array_equal(self._details, other._details)
            )
        return NotImplemented

    def __ne__(self, other: object) -> Any:
        equal = self == other
        return ~equal if isinstance(equal, np.ndarray) else not equal

    def __repr__(self) -> str:
        return f"Stops({self.counts()})"
