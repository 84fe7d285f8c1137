"""Runs a script or a module as ``python`` runs it: as ``__main__``, with its own arguments."""

from __future__ import annotations

import os
import runpy
import sys
import threading
import types
from dataclasses import dataclass
from pathlib import Path

from ..common.errors import VirtualGpuError, all_frames_wanted

HERE = str(Path(__file__).parent)


@dataclass(frozen=True)
class Script:
    """What to run: a file (or a folder with ``__main__.py``), or the dotted name of a module."""

    name: str
    arguments: tuple[str, ...]
    is_module: bool


def run(script: Script) -> int:
    """Run it to its end, threads included; returns its exit code.

    An exception that it does not catch is shown as Python shows it, and the code is 1.
    """
    try:
        _run_as_main(script)
        code = 0
    except SystemExit as leaving:
        code = _exit_code(leaving.code)
    except KeyboardInterrupt as interrupt:
        _show(interrupt)
        code = 130  # as of a process that ends by this signal
    except BaseException as error:
        _show(error)
        code = 1
    _wait_for_threads()
    return code


def _run_as_main(script: Script) -> None:
    sys.argv = [script.name, *script.arguments]
    if script.is_module:
        _search_first(os.getcwd())
        runpy.run_module(script.name, run_name="__main__", alter_sys=True)
    elif os.path.isfile(script.name):
        _search_first(os.path.dirname(os.path.realpath(script.name)))
        _run_file(os.path.abspath(script.name))
    else:
        runpy.run_path(script.name, run_name="__main__")


def _search_first(folder: str) -> None:
    """Where Python looks for modules first; ``python -P`` has no such place."""
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _run_file(path: str) -> None:
    """Unlike runpy.run_path this leaves the module in place: threads, atexit functions and pickle
    look for ``__main__`` after the last line, too."""
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__builtins__ = __builtins__
    sys.modules["__main__"] = module
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, vars(module))


def _exit_code(given: object) -> int:
    """What ``sys.exit(given)`` means: None is 0, and what is no number is said, with code 1."""
    if given is None:
        return 0
    if isinstance(given, int):
        return given
    print(given, file=sys.stderr)
    return 1


def _show(error: BaseException) -> None:
    """The traceback from the program's first frame on."""
    frames = error.__traceback__
    while frames is not None and _is_ours(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    if isinstance(error, KeyboardInterrupt | VirtualGpuError) and not all_frames_wanted():
        _cut_before_ours(frames)
    sys.excepthook(type(error), error.with_traceback(frames), frames)


def _cut_before_ours(frames: types.TracebackType | None) -> None:
    """The program's own frames only: what a launch was doing inside says nothing to its user."""
    while frames is not None and frames.tb_next is not None:
        if _is_ours(frames.tb_next.tb_frame.f_code.co_filename):
            frames.tb_next = None
        frames = frames.tb_next


def _is_ours(file: str) -> bool:
    return "runpy" in os.path.basename(file) or os.path.dirname(file) == HERE


def _wait_for_threads() -> None:
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
