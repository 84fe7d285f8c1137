"""The program in the sandbox: `python -m labs.grading.sandboxed DESCRIPTOR`.

It reads a request from standard input, calls the host functions of a submission, and sends what it
saw to the descriptor.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict

from labs.exercises import find
from labs.grading.attempt import attempts
from labs.grading.child import Limits, be_silent, hold_to
from labs.grading.messages import tell
from labs.grading.reading import Submission

STARTED = {"started": True}


def request(submission: Submission, asked: list[str], limits: Limits) -> dict:
    """What the program has to know, as JSON; the student's name is not among it."""
    files = [(name, base64.b64encode(raw).decode()) for name, raw in submission.files]
    return {"files": files, "asked": asked, "limits": asdict(limits)}


def called(given: dict) -> Iterator[dict]:
    """The messages of `attempts` for a request."""
    files = tuple((name, base64.b64decode(raw)) for name, raw in given["files"])
    yield from attempts(Submission("", files), [find(name) for name in given["asked"]], {})


def serve(work: Callable[[dict], Iterator[dict]]) -> None:
    """Do what a request asks for, with limits that hold from here on. Never returns."""
    given, writer = json.load(sys.stdin.buffer), int(sys.argv[1])

    def told() -> Iterator[dict]:
        yield STARTED
        yield from work(given)

    try:
        be_silent()
        hold_to(Limits(**given["limits"]))
        tell(writer, told)
    finally:
        os._exit(0)


if __name__ == "__main__":
    serve(called)
