"""The labs: exercises of the bank, with points, as an instructor assigns them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from labs.bank import find as exercise
from labs.exercise import Asked
from utils.errors import CourseError


@dataclass(frozen=True)
class Part:
    """One exercise of a lab.

    exercise: its name. points: for all of it. main: names of the targets that it is about, where
    the starter's result is right already; empty where the result is what the student adds.
    """

    exercise: str
    points: int
    main: tuple[str, ...] = ()

    @property
    def asked(self) -> Asked:
        return exercise(self.exercise)


@dataclass(frozen=True)
class Lab:
    """What is handed out and handed in together.

    name: as on the command line. minutes: for a student who has done the lesson. lessons: to be
    done before. objectives: what a student can do afterwards.
    """

    name: str
    title: str
    minutes: int
    lessons: tuple[str, ...]
    objectives: tuple[str, ...]
    parts: tuple[Part, ...]

    @property
    def points(self) -> int:
        return sum(part.points for part in self.parts)


LABS: Mapping[str, Lab] = {
    lab.name: lab
    for lab in (
        Lab(
            "coalescing", "Coalesced access, and several elements of c per thread", 90, ("05",),
            (
                "say which index must follow `threadIdx.x`, and why",
                "write a kernel whose threads compute several elements, and count its loads",
            ),
            (
                Part("coalescing", 40, ("sectors per request",)),
                Part("four_columns", 60, ("loads per multiply-add",)),
            ),
        ),
        Lab(
            "unrolling", "A loop unrolled by hand", 60, ("06",),
            ("unroll a loop whose length is no multiple of the factor",),
            (Part("unroll", 100, ("turns per multiply-add",)),),
        ),
        Lab(
            "tiling", "The product by tiles in shared memory", 90, ("07",),
            (
                "load a tile together, wait for it, and use it",
                "handle edges that no tile fits",
                "lay a tile out without bank conflicts",
            ),
            (Part("tiling", 70), Part("conflict_free", 30, ("wavefronts per request",))),
        ),
        Lab(
            "occupancy", "Occupancy, and the best block", 90, ("08",),
            (
                "compute how many blocks of a kernel an SM holds, and what limits them",
                "choose the block for a kernel whose shared memory grows with it",
            ),
            (
                Part("required_shared", 15), Part("square_side", 15),
                Part("resident_blocks", 40), Part("best_block", 30),
            ),
        ),
        Lab(
            "latency", "Hiding latency", 60, ("09",),
            ("write a copy with four loads under way in each thread",),
            (Part("four_loads", 100, ("waits in the source",)),),
        ),
    )
}  # fmt: skip


def find(name: str) -> Lab:
    """The lab of this name; CourseError with the names that there are."""
    if name in LABS:
        return LABS[name]
    close = difflib.get_close_matches(name, LABS, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(LABS)}."
    raise CourseError(f"There is no lab {name!r}: {hint}")
