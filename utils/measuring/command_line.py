"""The command lines of the kernel packages: sub-commands with options and help."""

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
    """One sub-command of a command line.

    `name` and `help` appear in --help. `configure` adds the options to a parser. `run` takes the
    parsed options and returns the exit code; it raises CourseError if the request cannot be met.
    """

    name: str
    help: str
    configure: Callable[[argparse.ArgumentParser], object]
    run: Callable[[argparse.Namespace], int]


def main(title: str, commands: Sequence[Command], arguments: Sequence[str] | None = None) -> int:
    """Run the sub-command that the arguments name, by default the first, and return the exit code.

    `arguments` are the words of the command line, by default those of this process. The exit code
    is that of the sub-command, or 2 if the request cannot be met, which one sentence on stderr
    explains, or 130 after Ctrl-C. argparse exits the process for --help and for options that it
    does not know.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words.insert(0, commands[0].name)
    options = _parser(title, commands).parse_args(words)
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
    """Return the current CUDA device; raise CourseError if there is none.

    `what` is the subject of the error message, which says that it needs a device. `instead` is the
    sentence that says what to do without a device.
    """
    device = devices.current()
    if device is None:
        raise CourseError(f"{what} needs a CUDA device. {devices.why_no_device()} {instead}")
    return device


def _parser(title: str, commands: Sequence[Command]) -> argparse.ArgumentParser:
    """Return the parser of a command line with these sub-commands.

    `title` begins its description. The parsed options have the attribute `run` of the chosen
    command.
    """
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
    """Return the command that runs, such as "python -m gemm_kernels"; None outside of a package."""
    spec = sys.modules["__main__"].__spec__
    return f"python -m {spec.parent}" if spec and spec.parent else None
