"""The command line of the labs: `python -m labs --help`."""

from __future__ import annotations

import argparse
import difflib
import sys

from labs.grading import command, compose
from labs.platforms.nbgrader import command as nbgrader_command
from labs.sessions import slides
from utils.errors import CourseError


def main(arguments: list[str] | None = None) -> int:
    """Run one sub-command and return its exit code.

    Without a sub-command, it prints the list of them and returns 0. An unknown sub-command or a
    wrong option ends the program with exit code 2. If a CourseError is raised, it prints the
    error's sentence to standard error and returns 2. arguments: the command-line arguments without
    the program's name; None takes those of this process.
    """
    parser = argparse.ArgumentParser(prog="python -m labs", description="Labs, and their marks.")
    commands = parser.add_subparsers(metavar="COMMAND")
    command.add_to(commands)
    compose.add_to(commands)
    slides.add_to(commands)
    nbgrader_command.add_to(commands)
    parser.set_defaults(run=lambda _: parser.print_help() or 0)
    given = sys.argv[1:] if arguments is None else arguments
    if given and not given[0].startswith("-") and given[0] not in commands.choices:
        parser.error(_no_command(given[0], list(commands.choices)))
    options = parser.parse_args(given)
    try:
        return options.run(options)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2


def _no_command(given: str, known: list[str]) -> str:
    """Return a sentence that there is no such command, with the nearest one or all of them.

    For "check" and "task" it says instead that these are functions for a notebook.
    """
    if given in ("check", "task"):
        return f"{given} is a function for a notebook: from labs import {given}."
    close = difflib.get_close_matches(given, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"choose one of {', '.join(known)}."
    return f"there is no command {given!r}: {hint}"


if __name__ == "__main__":
    sys.exit(main())
