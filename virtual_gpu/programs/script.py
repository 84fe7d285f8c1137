"""Runs a script or a module as ``python`` does: as ``__main__``, with its own ``sys.argv``."""

from __future__ import annotations

import os
import runpy
import sys
import threading
import types
from dataclasses import dataclass
from pathlib import Path

from ..common.errors import VirtualGpuError, all_frames_wanted

HERE = f"{Path(__file__).parents[1]}{os.sep}"


@dataclass(frozen=True)
class Script:
    """A program and its arguments.

    ``name`` is a file, a folder with ``__main__.py``, or the dotted name of a module. ``is_module``
    is True for a module.
    """

    name: str
    arguments: tuple[str, ...]
    is_module: bool


def run(script: Script) -> int:
    """Run a script to its end, including its threads, and return its exit code.

    An uncaught exception is printed as Python prints it; the code is then 1, or 130 for
    KeyboardInterrupt.
    """
    try:
        _run_as_main(script)
        code = 0
    except SystemExit as leaving:
        code = _exit_code(leaving.code)
    except KeyboardInterrupt as interrupt:
        _show(interrupt)
        code = 130  # the exit code of a process that SIGINT ends
    except BaseException as error:
        _show(error)
        code = 1
    _wait_for_threads()
    return code


def _run_as_main(script: Script) -> None:
    """Run the script as ``__main__``, with its arguments in ``sys.argv``."""
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
    """Set the folder that Python searches first for modules, the first entry of ``sys.path``.

    With ``python -P`` there is no such folder, and nothing is changed.
    """
    if not sys.flags.safe_path:
        sys.path[0] = folder


def _run_file(path: str) -> None:
    """Run a file as ``__main__``.

    Unlike runpy.run_path, this leaves the module in ``sys.modules``, because threads, atexit
    functions and pickle need ``__main__`` after its last line.
    """
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__builtins__ = __builtins__
    sys.modules["__main__"] = module
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    exec(code, vars(module))


def _exit_code(argument: object) -> int:
    """Return the exit code of ``sys.exit(argument)``.

    It is 0 for None, the argument itself for an integer, and 1 for anything else, which is printed
    to stderr.
    """
    if argument is None:
        return 0
    if isinstance(argument, int):
        return argument
    print(argument, file=sys.stderr)
    return 1


def _show(error: BaseException) -> None:
    """Print an exception to stderr, with the traceback from the program's first frame on.

    Frames of the virtual GPU are left out for its own errors and for KeyboardInterrupt, unless the
    user wants all frames.
    """
    frames = error.__traceback__
    while frames is not None and _is_internal(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    if isinstance(error, KeyboardInterrupt | VirtualGpuError) and not all_frames_wanted():
        _remove_internal_frames(frames)
    sys.excepthook(type(error), error.with_traceback(frames), frames)


def _remove_internal_frames(frames: types.TracebackType | None) -> None:
    """Cut a traceback where the program calls the virtual GPU.

    The traceback is modified. Its frames within the virtual GPU say nothing to the program's user.
    """
    while frames is not None and frames.tb_next is not None:
        if _is_internal(frames.tb_next.tb_frame.f_code.co_filename):
            frames.tb_next = None
        frames = frames.tb_next


def _is_internal(file: str) -> bool:
    """Return True for a file of the virtual GPU or of ``runpy``."""
    return "runpy" in os.path.basename(file) or file.startswith(HERE)


def _wait_for_threads() -> None:
    """Wait until all threads of the program except daemons have ended."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
