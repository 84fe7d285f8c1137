"""The sub-command `compose` of `python -m labs`: a lab of an instructor's own.

It writes a file that `labs.grading.labs` reads, so that every other command knows the lab.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable

from labs.grading.labs import COMPOSED, LABS, Lab, composed, minutes_of
from utils.errors import CourseError

_NAME = re.compile(r"[a-z][a-z0-9_]*")
ROUNDED = 5  # the minutes of a lab are a multiple of this


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
    exercise is unknown or given twice, the points or minutes do not suit, or the file cannot be
    written.
    """
    name, points = _free(arguments.name), dict(_pairs(arguments.exercises, arguments.points))
    if arguments.minutes is not None and arguments.minutes < 1:
        raise CourseError(f"--minutes is {arguments.minutes}: give a number of at least 1.")
    title = arguments.title or name.replace("_", " ").capitalize()
    lab = composed(name, title, arguments.minutes or _minutes(points), points)
    file = COMPOSED / f"{name}.toml"
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


def _free(name: str) -> str:
    """Return `name` unchanged if a new lab may have it.

    Raises CourseError unless it is a small letter followed by small letters, digits and _, and if a
    lab of the course has it.
    """
    if not _NAME.fullmatch(name):
        raise CourseError(f"{name!r} is no name for a lab: use small letters, digits and _.")
    if name in LABS:
        raise CourseError(f"The course has a lab {name}: choose another name.")
    return name


def _pairs(exercises: list[str], points: list[int]) -> list[tuple[str, int]]:
    """Return pairs of an exercise and its points.

    Raises CourseError if there are not as many points as exercises, if an exercise is named twice,
    or if points are below 1.
    """
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


def _minutes(exercises: Iterable[str]) -> int:
    """Return the estimated minutes of these exercises together, rounded up to a multiple of 5.

    Raises CourseError if no lab has one of them.
    """
    return -(-round(sum(map(minutes_of, exercises))) // ROUNDED) * ROUNDED


def as_toml(lab: Lab) -> str:
    """Return the text of a lab's TOML file: its title, its minutes, and the points per exercise."""
    points = [f"{part.exercise} = {part.points}" for part in lab.parts]
    title = json.dumps(lab.title, ensure_ascii=False)
    return "\n".join([f"title = {title}", f"minutes = {lab.minutes}", "", "[points]", *points, ""])
