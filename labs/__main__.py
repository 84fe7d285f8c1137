"""The command line of the labs: `python -m labs --help`."""

from __future__ import annotations

import argparse
import sys

from labs.grading import command, compose
from labs.platforms.nbgrader import command as nbgrader_command
from labs.sessions import slides
from utils.errors import CourseError


def main(arguments: list[str] | None = None) -> int:
    """Run one sub-command and return its exit code.

    Without a sub-command, it prints the list of them and returns 0. If a CourseError is raised, it
    prints the error's sentence to standard error and returns 2. arguments: the command-line
    arguments without the program's name; None takes those of this process.
    """
    parser = argparse.ArgumentParser(prog="python -m labs", description="Labs, and their marks.")
    commands = parser.add_subparsers(metavar="COMMAND")
    command.add_to(commands)
    compose.add_to(commands)
    slides.add_to(commands)
    nbgrader_command.add_to(commands)
    parser.set_defaults(run=lambda _: parser.print_help() or 0)
    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
