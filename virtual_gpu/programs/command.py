"""``python -m virtual_gpu script.py``: runs anybody's script and says what its kernels did."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ..launching.dispatch import watching
from ..launching.seam import install
from .launch_log import KernelLog, LaunchLog
from .page import page
from .script import Script, run
from .summary import as_json, as_text, summary_of


def main(arguments: list[str] | None = None) -> None:
    """Run the command line (``sys.argv`` where none is given) and end the process.

    The exit code is 1 where a kernel has a flaw, else the script's own.
    """
    parser = _parser()
    asked = parser.parse_args(arguments)
    script = _script(parser, asked)
    wanted = (("--json", asked.json, as_json), ("--html", asked.html, page))
    reports = [(_target(parser, name, path), make) for name, path, make in wanted if path]
    folder, process, log = Path.cwd(), os.getpid(), LaunchLog(asked.stop)
    install(available=True)
    with watching(log):
        code = run(script)
    if os.getpid() != process:  # a process that the script has forked: its parent reports
        sys.exit(code)
    summary = summary_of(log.kernels, folder)
    print(as_text(summary), file=sys.stderr)
    if asked.trace:
        print(_traced(log.kernels, asked.trace), file=sys.stderr)
    for path, make in reports:
        path.write_text(make(summary), encoding="utf-8")
    sys.exit(1 if log.flaws else code)


def _parser() -> argparse.ArgumentParser:
    name = f"python -m {__package__}"
    parser = argparse.ArgumentParser(
        prog=name,
        usage=f"{name} [options] (script.py | -m module) [its arguments]",
        description="Run a script without a GPU. Every launch of a Numba-CUDA kernel is checked "
        "and counted. The exit code is 1 where a kernel has a flaw, else the script's own. What "
        "the kernels did is written to stderr.",
    )
    parser.add_argument("--stop", action="store_true", help="end at the first flaw")
    parser.add_argument("--trace", metavar="KERNEL", help="show the source of this kernel with its "
                        "costs: its first launch with a flaw, else its first launch")  # fmt: skip
    parser.add_argument("--html", metavar="FILE", help="write a page with everything")
    parser.add_argument("--json", metavar="FILE", help="write the same for programs")
    rest = argparse.REMAINDER
    parser.add_argument("-m", dest="module", nargs=rest, help="run a module instead of a script")
    parser.add_argument("script", nargs=rest, help=argparse.SUPPRESS)
    return parser


def _script(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> Script:
    name, *arguments = asked.module or asked.script or [None]
    if name is None:
        parser.error("there is nothing to run; give a script, or -m and the name of a module.")
    if asked.stop and asked.trace:
        parser.error("--stop counts nothing, so --trace has nothing to show; give one of them.")
    # A pipe can be read only once, and kernels are read from the file again.
    if not asked.module and not (os.path.isfile(name) or os.path.isdir(name)):
        parser.error(f"there is no file {name}; give the path of a script.")
    return Script(name, tuple(arguments), bool(asked.module))


def _target(parser: argparse.ArgumentParser, option: str, given: str) -> Path:
    """Where a report goes. It is refused before the script runs, not when its work is done."""
    path = Path(given).absolute()
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        parser.error(f"{option} {given} cannot be written; give a file in a folder that exists.")
    return path


def _traced(kernels: tuple[KernelLog, ...], name: str) -> str:
    """The annotated source of each kernel of this name."""
    named = [kernel for kernel in kernels if kernel.name == name]
    shown = [
        f"Launch {k.shown_number} of {k.launches}:\n{k.shown}" for k in named if k.shown is not None
    ]
    if shown:
        return "\n\n".join(shown)
    known = ", ".join(dict.fromkeys(kernel.name for kernel in kernels)) or "none"
    reason = "came to no end" if named else "was not launched"
    return f"The kernel {name} {reason}, so there is nothing to show; launched were: {known}."
