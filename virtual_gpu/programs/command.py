"""The command ``python -m virtual_gpu script.py``: runs a script and reports on its kernels."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ..host.transfers import counting_transfers
from ..launching.dispatcher_methods import watching
from ..launching.installation import install
from .html_page import page
from .launch_log import KernelLog, LaunchLog
from .script import Script, run
from .summary import as_json, as_text, summary_of


def main(arguments: list[str] | None = None) -> None:
    """Run the command line (``arguments``, or ``sys.argv`` without them) and end the process.

    The report is printed to stderr and written to the files that the options name. The exit code is
    1 if a kernel has a flaw, else that of the script, and 2 if the command line is wrong, in which
    case the script does not run. A process that the script has forked ends
    with its own exit code and reports nothing.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    script = _script(parser, options)
    formats = (("--json", options.json, as_json), ("--html", options.html, page))
    reports = [(_target(parser, name, path), make) for name, path, make in formats if path]
    folder, process, log = Path.cwd(), os.getpid(), LaunchLog(options.stop)
    install(available=True)
    with counting_transfers() as transfers, watching(log):
        code = run(script)
    if os.getpid() != process:  # this process was forked by the script; its parent reports
        sys.exit(code)
    summary = summary_of(log.kernels, folder, log.results_are_unseen(transfers))
    print(as_text(summary), file=sys.stderr)
    if options.trace:
        print(_annotated_sources(log.kernels, options.trace), file=sys.stderr)
    for path, make in reports:
        path.write_text(make(summary), encoding="utf-8")
    sys.exit(1 if log.flaws else code)


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    name = f"python -m {__package__.partition('.')[0]}"
    parser = argparse.ArgumentParser(
        prog=name,
        usage=f"{name} [options] (script.py | -m module) [its arguments]",
        description="Run a script without a GPU. Every launch of a Numba-CUDA kernel is checked "
        "and counted. The exit code is 1 if a kernel has a flaw, else the script's own. The "
        "report is written to stderr.",
    )
    parser.add_argument("--stop", action="store_true", help="end at the first flaw")
    parser.add_argument("--trace", metavar="KERNEL", help="show the source of this kernel with its "
                        "costs: its first launch with a flaw, else its first launch")  # fmt: skip
    parser.add_argument("--html", metavar="FILE", help="write the report as an HTML page")
    parser.add_argument("--json", metavar="FILE", help="write the report as JSON")
    rest = argparse.REMAINDER
    parser.add_argument("-m", dest="module", nargs=rest, help="run a module instead of a script")
    parser.add_argument("script", nargs=rest, help=argparse.SUPPRESS)
    return parser


def _script(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Script:
    """Return the Script that the command line names.

    The parser ends the program with status 2 if the command line names none, if the script is no
    file or folder, and if it has both --stop and --trace.
    """
    name, *arguments = options.module or options.script or [None]
    if name is None:
        parser.error("there is nothing to run; give a script, or -m and the name of a module.")
    if options.stop and options.trace:
        parser.error("--stop counts nothing, so --trace has nothing to show; give one of them.")
    # A pipe can be read only once, and kernels are read from the file again.
    if not options.module and not (os.path.isfile(name) or os.path.isdir(name)):
        parser.error(f"there is no file {name}; give the path of a script.")
    return Script(name, tuple(arguments), bool(options.module))


def _target(parser: argparse.ArgumentParser, option: str, file: str) -> Path:
    """Return the absolute path of the report ``file``.

    If it is not writable, an error that names ``option`` ends the program before the script runs.
    """
    path = Path(file).absolute()
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        parser.error(f"{option} {file} cannot be written; give a file in a folder that exists.")
    return path


def _annotated_sources(kernels: tuple[KernelLog, ...], name: str) -> str:
    """Return the annotated source of each kernel with this name, one after the other.

    Each follows a line such as ``Launch 2 of 5:``. If no launch of such a kernel ran to its end,
    return a sentence that says why there is nothing.
    """
    named = [kernel for kernel in kernels if kernel.name == name]
    shown = [
        f"Launch {k.shown_number} of {k.launches}:\n{k.shown}" for k in named if k.shown is not None
    ]
    if shown:
        return "\n\n".join(shown)
    known = ", ".join(dict.fromkeys(kernel.name for kernel in kernels)) or "none"
    reason = "came to no end" if named else "was not launched"
    return f"The kernel {name} {reason}, so there is nothing to show; launched were: {known}."
