"""The command line of the labs in a copy of the course for students."""

from __future__ import annotations

import argparse
import sys

WHAT = """This is a copy of the course for students. `check` in the lessons and in the handed-out
notebooks says here what it says in the whole course. This copy has no

  - solutions and other right or wrong versions of the exercises;
  - formulas of the exercises with numbers: `check` compares with stored results;
  - answers to the exercises at the end of the lessons;
  - hints, if your instructor left them out;
  - tests, tools, the instructor's guide, and the commands handout, list, grade and selftest.

A cell that shows the course's solution is a comment here. Ask your instructor for the rest."""


def main() -> int:
    """Print what this copy does not have, and return the exit code 0.

    An argument other than --help ends the program with the exit code 2.
    """
    parser = argparse.ArgumentParser(
        prog="python -m labs",
        description=WHAT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.parse_args()
    parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
