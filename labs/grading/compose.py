"""The sub-command `compose` of `python -m labs`: a lab of an instructor's own.

It writes a file that `labs.grading.labs` reads, so that every other command knows the lab.
"""

from __future__ import annotations

import argparse
import json
import re

from labs.grading.labs import COMPOSED, LABS, Lab, Part, part_with
from utils.errors import CourseError

_NAME = re.compile(r"[a-z][a-z0-9_]*")
ROUNDED = 5  # the minutes of a lab are a multiple of this
FIELDS = ("title", "minutes", "lessons", "objectives")  # of `Lab`, as its file has them


def add_to(commands) -> None:
    """Add the sub-command to an argparse parser; commands: what `add_subparsers` returned."""
    parser = commands.add_parser("compose", help="make a lab of your own from exercises")
    parser.description = "Make a lab of your own from the exercises of the course's labs."
    parser.add_argument("name", metavar="NAME", help="small letters, digits and _, such as week_3")
    parser.add_argument("exercises", nargs="+", metavar="EXERCISE", help="such as tree, in order")
    parser.add_argument(
        "--points", type=int, nargs="+", required=True, metavar="N", help="one number per exercise"
    )
    parser.add_argument("--title", help="its heading; default: the name, with spaces")
    parser.add_argument(
        "--minutes", type=int, metavar="N", help="default: the sum of the course's estimates"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the file of the lab, print what it has and how to go on, and return exit code 0.

    arguments: those of the sub-command. Raises CourseError if the name is taken or no name, an
    exercise is unknown or given twice, the points do not suit, or the file cannot be written.
    """
    lab = composed(
        arguments.name, dict(_pairs(arguments.exercises, arguments.points)),
        arguments.title or arguments.name.replace("_", " ").capitalize(), arguments.minutes,
    )  # fmt: skip
    file = COMPOSED / f"{lab.name}.toml"
    try:
        COMPOSED.mkdir(exist_ok=True)
        file.write_text(as_toml(lab), encoding="utf-8")
    except OSError as error:
        raise CourseError(f"{file} cannot be written: {error.strerror}.") from None
    print(
        f"{lab.title}: {lab.points} points, about {lab.minutes} minutes, after {lab.after}.\n"
        f"It is in {file}; delete the file to remove the lab.\n"
        f"Hand it out: python -m labs handout {lab.name} --out FOLDER"
    )
    return 0


def _pairs(exercises: list[str], points: list[int]) -> list[tuple[str, int]]:
    """Return pairs of an exercise and its points. Raises CourseError if they do not suit."""
    if len(exercises) != len(points):
        raise CourseError(
            f"There are {len(exercises)} exercises and {len(points)} numbers after --points: give "
            "one number per exercise."
        )
    twice = [name for name in exercises if exercises.count(name) > 1]
    if twice:
        raise CourseError(f"{twice[0]} is given twice: name each exercise once.")
    if min(points) < 1:
        raise CourseError(f"--points has {min(points)}: each exercise needs at least 1 point.")
    return list(zip(exercises, points, strict=True))


def composed(name: str, points: dict[str, int], title: str, minutes: int | None = None) -> Lab:
    """Return a lab of these exercises; points: exercise -> its points, in the order of the tasks.

    minutes: None for the course's estimates, in which an exercise has its share of the points of
    the first lab that has it. Raises CourseError if the name is one of the course's labs or no
    name, an exercise is in no lab, or the minutes are less than 1.
    """
    if not _NAME.fullmatch(name):
        raise CourseError(f"{name!r} is no name for a lab: use small letters, digits and _.")
    if name in LABS:
        raise CourseError(f"The course has a lab {name}: choose another name.")
    if minutes is not None and minutes < 1:
        raise CourseError(f"--minutes is {minutes}: give a number of at least 1.")
    parts = tuple(part_with(exercise) for exercise in points)
    return Lab(
        name, title, minutes or _minutes(parts),
        tuple(sorted({part.definition.lesson for part in parts})),
        tuple(f"solve the task “{part.definition.title}”" for part in parts),
        tuple(Part(part.exercise, points[part.exercise]) for part in parts),
    )  # fmt: skip


def _minutes(parts: tuple[Part, ...]) -> int:
    """Return the estimated minutes of these parts of the course's labs, rounded up."""
    homes = {part: lab for lab in reversed(LABS.values()) for part in lab.parts}
    minutes = sum(part.points / homes[part].points * homes[part].minutes for part in parts)
    return -(-round(minutes) // ROUNDED) * ROUNDED


def as_toml(lab: Lab) -> str:
    """Return the text of a lab's file."""
    lines = [f"{name} = {json.dumps(getattr(lab, name), ensure_ascii=False)}" for name in FIELDS]
    points = [f"{part.exercise} = {part.points}" for part in lab.parts]
    return "\n".join([*lines, "", "[points]", *points]) + "\n"
