"""Print every file that belongs to a lesson: `python -m utils.lessons where 08`."""

import argparse
import sys

from utils.errors import CourseError
from utils.lessons.files import page


def main() -> int:
    """Run the command line and return the exit code.

    Prints the files of the lesson and returns 0. If there is no such lesson, prints the error to
    stderr and returns 2.
    """
    parser = argparse.ArgumentParser(prog="python -m utils.lessons", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    where = commands.add_parser("where", help="print every file that belongs to a lesson")
    where.add_argument("lesson", help='its number, such as "08"')
    try:
        print(page(parser.parse_args().lesson))
    except CourseError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
