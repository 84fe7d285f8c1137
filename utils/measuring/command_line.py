"""The command lines of the kernel packages: sub-commands that --help shows."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from utils.errors import CourseError
from utils.machine import devices
from utils.machine.versions import explained

REFUSED = 2
INTERRUPTED = 130


@dataclass(frozen=True)
class Command:
    """One sub-command.

    name, help: as --help shows it. configure: adds the options to a parser. run: from the options
    to the exit code; it raises CourseError where the request cannot be met.
    """

    name: str
    help: str
    configure: Callable[[argparse.ArgumentParser], object]
    run: Callable[[argparse.Namespace], int]


def main(title: str, commands: Sequence[Command], arguments: Sequence[str] | None = None) -> int:
    """Run one of the sub-commands, the first where none is named; returns the exit code.

    The command's own, or 2: the request cannot be met, and one sentence on stderr says why. 130:
    stopped with Ctrl-C; what was measured until then is recorded.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or (given[0].startswith("-") and given[0] not in ("-h", "--help")):
        given.insert(0, commands[0].name)
    options = _parser(title, commands).parse_args(given)
    try:
        with explained():
            return options.run(options)
    except CourseError as error:
        print(error, file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        recorded = getattr(options, "record", False)
        kept = " What was finished is recorded." if recorded else ""
        print(f"Stopped.{kept}", file=sys.stderr)
        return INTERRUPTED


def device_for(what: str, instead: str = "Run it on a machine with a GPU.") -> devices.Device:
    """The CUDA device at hand; CourseError where there is none. what: needs it, as the user says.

    instead: what to do without one.
    """
    device = devices.current()
    if device is None:
        raise CourseError(f"{what} needs a CUDA device. {devices.why_no_device()} {instead}")
    return device


def _parser(title: str, commands: Sequence[Command]) -> argparse.ArgumentParser:
    program = _program()
    parser = argparse.ArgumentParser(
        prog=program,
        description=f"{title}. Without a command: {commands[0].name}.",
        epilog=f"{program} COMMAND --help shows the options of a command.",
    )
    chosen = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in commands:
        sub = chosen.add_parser(command.name, help=command.help, description=command.help)
        command.configure(sub)
        sub.set_defaults(run=command.run)
    return parser


def _program() -> str | None:
    """The command as it was typed, such as python -m gemm_kernels."""
    spec = sys.modules["__main__"].__spec__
    return f"python -m {spec.parent}" if spec and spec.parent else None
