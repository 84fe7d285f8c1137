"""The generated code of one lane as a Python function, and what it calls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..memory.memory import Memory
from ..numbers.plain_numbers import GiveUp
from .lane_values import UNSET, Output

MOST_ROUNDS = 1 << 18  # of a while loop; then the closures look whether it ends at all


def compiled(output: Output, lines: list[str], parameters: list[str]) -> Callable:
    """Compile the code; return a function that returns the function which executes one lane.

    It takes five accessors per memory, then the callbacks ``at``, ``what``, ``undo``, ``late``, the
    list ``tally`` and the callback ``enter``. ``lines`` are the body of the function for one lane,
    which takes the ``parameters`` and then the inputs of ``output``.
    """
    per_slot = ("view", "data", "unset", "saved", "save")
    given = [f"{what}{n}" for n in range(len(output.slots)) for what in per_slot]
    given += ["at", "what", "undo", "late", "tally", "enter"]
    functions = [f"    {line}" for line in output.functions]
    # A device function may read what differs by lane, such as threadIdx.x, so it is defined anew
    # for each lane then.
    outside, inside = ([], functions) if output.inputs else (functions, [])
    text = [
        f"def make({', '.join(given)}):",
        *outside,
        f"    def lane({', '.join([*parameters, *output.inputs])}):",
        *(f"    {line}" for line in (*inside, *lines)),
        "    return lane",
    ]
    names = {**output.numbers.names, **_HELPERS}
    exec(compile("\n".join(text), "<one lane>", "exec"), names)
    return names["make"]


def accessors(memory: Memory) -> tuple:
    """Return (view, data, unwritten, saved, save) of a memory, for the generated code.

    ``view`` is a memoryview of the array ``data``. ``unwritten`` is the memory's array of flags of
    the elements that nobody has written, or None. ``save(address)`` saves the content of the block
    of 4096 elements of an address, whose number is then in the set ``saved``.
    """
    saved: set[int] = set()

    def save(address: int) -> None:
        saved.add(address >> 12)
        memory.save_before(np.array([address]))

    return memoryview(memory.data), memory.data, memory.unwritten, saved, save


def late_of(watch) -> Callable[[int], None]:
    """Return ``late(rounds)``, which a ``while`` loop calls now and then with its iteration count.

    It raises GiveUp if the loop has run too often or the launch has exceeded a limit.
    """
    most = min(MOST_ROUNDS, watch.limits.rounds or MOST_ROUNDS)

    def late(rounds: int) -> None:
        if rounds > most or watch.excess(0):
            raise GiveUp

    return late


def _give_up() -> None:
    """Raise GiveUp, which ends the run of the code for one lane."""
    raise GiveUp


def _sliced(start: int | None, stop: int | None, extent: int) -> tuple[int, int]:
    """Return (first index, length) of the slice ``start:stop`` of ``extent`` elements."""
    first, last, _ = slice(start, stop).indices(extent)
    return first, max(0, last - first)


_HELPERS = {"give_up": _give_up, "sliced": _sliced, "UNSET": UNSET}
