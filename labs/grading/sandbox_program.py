"""The program that runs in the sandbox: `python -m labs.grading.sandbox_program DESCRIPTOR`.

It reads a request from standard input, calls the host functions of a submission, and writes its
messages to the file descriptor.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from labs.exercises import find
from labs.grading.attempt import attempts
from labs.grading.child import ChildLimits, apply_limits, silence_streams
from labs.grading.messages import send_all
from labs.grading.submissions import Submission

STARTED = {"started": True}
WRITABLE = "writable"  # the key of the first message: a file of the kernel, or None


def make_request(submission: Submission, names: list[str], limits: ChildLimits) -> dict:
    """Return the program's request as a JSON-compatible dict, without the student's name.

    "files" holds pairs of a file's name and its bytes in base64, "asked" the exercises' names, and
    "limits" the fields of `limits`. names: the exercises whose functions are to be called.
    """
    files = [(name, base64.b64encode(raw).decode()) for name, raw in submission.files]
    return {"files": files, "asked": names, "limits": asdict(limits)}


def call_functions(request: dict) -> Iterator[dict]:
    """Call the functions of a request; yield {WRITABLE: None} and then the messages of `attempts`.

    If a file of the Linux kernel can be written here, yield only {WRITABLE: its path} and call
    nothing. request: from `make_request`.
    """
    writable = first_writable(Path("/proc"))
    yield {WRITABLE: writable}
    if writable:
        return
    files = tuple((name, base64.b64decode(raw)) for name, raw in request["files"])
    yield from attempts(Submission("", files), [find(name) for name in request["asked"]], {})


def first_writable(proc: Path) -> str | None:
    """Return the path of the Linux kernel's first file that can be opened for writing, or None.

    proc: the folder `/proc`, which is searched with its subfolders. The files of processes are
    skipped, because the processes that are visible belong to the sandbox.
    """
    for name in sorted(os.listdir(proc)):
        path = proc / name
        if name.isdigit() or path.is_symlink():
            continue
        for file in _files_below(path) if path.is_dir() else [str(path)]:
            with contextlib.suppress(OSError):
                os.close(os.open(file, os.O_WRONLY | os.O_NONBLOCK))
                return file
    return None


def _files_below(folder: Path) -> Iterator[str]:
    """Yield the paths of all files in a folder and its subfolders, as texts.

    Each path begins with `folder` as it was given.
    """
    for inner, _, names in os.walk(folder):
        yield from (os.path.join(inner, name) for name in names)


def serve(work: Callable[[dict], Iterator[dict]]) -> None:
    """Read a request, apply its limits, send STARTED and what `work` yields, and exit the process.

    The request is read from standard input. The messages are written to the file descriptor that is
    the program's first argument. work: takes the request and yields messages.
    """
    request, writer = json.load(sys.stdin.buffer), int(sys.argv[1])

    def messages() -> Iterator[dict]:
        """Yield STARTED and then the messages of `work`."""
        yield STARTED
        yield from work(request)

    try:
        silence_streams()
        apply_limits(ChildLimits(**request["limits"]))
        send_all(writer, messages)
    finally:
        os._exit(0)


if __name__ == "__main__":
    serve(call_functions)
