"""Run one module of Numba's tests under the virtual GPU, in a process of its own.

``python -m virtual_gpu.tests.numba_suite.worker MODULE OUT`` appends one JSON line to OUT for each
event: the start of a test, and the result of it and of each of its subtests.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import io
import json
import signal
import sys
import traceback
import types
import unittest
from pathlib import Path
from unittest import mock

from numba import cuda

import virtual_gpu


class TimeLimit(BaseException):
    """A test took too long. It is a BaseException so that no ``except Exception`` can stop it."""


class DoesNotApply(BaseException):
    """A test asks for machine code, which the virtual GPU does not make."""


class Events(unittest.TestResult):
    """A test result that writes each event as it happens."""

    def __init__(self, out: Path, seconds: int):
        super().__init__()
        self._out = out
        self._seconds = seconds

    def startTest(self, test) -> None:
        super().startTest(test)
        self._write(test, "starts")
        signal.setitimer(signal.ITIMER_REAL, self._seconds, self._seconds)

    def stopTest(self, test) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        super().stopTest(test)
        self._write(test, "ends")

    def addSuccess(self, test) -> None:
        self._write(test, "succeeds")

    def addError(self, test, err) -> None:
        self._write(test, "raises", _described(err))

    addFailure = addError

    def addSkip(self, test, reason) -> None:
        self._write(test, "is skipped", {"message": reason})

    def addExpectedFailure(self, test, err) -> None:
        self._write(test, "fails as expected")

    def addUnexpectedSuccess(self, test) -> None:
        self._write(test, "succeeds against expectation")

    def addSubTest(self, test, subtest, err) -> None:
        if err is None:
            self._write(test, "part succeeds")
        else:
            self._write(test, "part raises", _described(err))

    def _write(self, test, event: str, details: dict | None = None) -> None:
        name = ".".join(test.id().split(".")[-2:])
        line = {"test": name, "event": event, **(details or {})}
        with self._out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _described(err) -> dict:
    """Return the exception's classes, its message, and the files that it went through."""
    kind, error, trace = err
    frames = [f.filename for f in traceback.extract_tb(trace)]
    return {
        "classes": [c.__name__ for c in kind.__mro__],
        "message": str(error)[:1000],
        "files": ["/".join(Path(name).parts[-2:]) for name in frames],
        "traceback": "".join(traceback.format_exception(kind, error, trace))[-6000:],
    }


def _refuse_machine_code(*ignored, **names) -> None:
    raise DoesNotApply("the test compares machine code or LLVM IR")


def _stand_in_for_filecheck() -> None:
    """Put an empty FileCheck in place: Numba's test base imports it, for machine code only."""
    if importlib.util.find_spec("filecheck"):
        return
    for module, name in (
        ("matcher", "Matcher"), ("options", "Options"), ("parser", "Parser"), ("finput", "FInput"),
    ):  # fmt: skip
        stand_in = types.ModuleType(f"filecheck.{module}")
        setattr(stand_in, name, object)
        sys.modules[stand_in.__name__] = stand_in
    sys.modules["filecheck"] = types.ModuleType("filecheck")
    sys.modules["filecheck.parser"].pattern_for_opts = _refuse_machine_code


def prepare() -> None:
    """Install the virtual GPU, also for Numba's test base."""
    virtual_gpu.install()
    _stand_in_for_filecheck()
    testing = importlib.import_module("numba.cuda.testing")
    capability = cuda.get_current_device().compute_capability
    testing.cc_X_or_above = lambda *asked: capability >= asked
    for name in ("Asm", "LLVM", "Matches"):
        setattr(testing.CUDATestCase, f"assertFileCheck{name}", _refuse_machine_code)


def _stop(number, frame) -> None:
    raise TimeLimit("the time limit")


def _wanted(suite, left_out: set[str]):
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from _wanted(part, left_out)
        elif ".".join(part.id().split(".")[-2:]) not in left_out:
            yield part


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", help="dotted name of a test module")
    parser.add_argument("out", type=Path, help="a file to append to")
    parser.add_argument("--seconds", type=int, default=10, help="time limit of a test")
    parser.add_argument("--only", action="append", default=[], help="a test: Class.method")
    parser.add_argument("--done", action="append", default=[], help="a test to leave out")
    arguments = parser.parse_args()
    prepare()
    result = Events(arguments.out, arguments.seconds)
    signal.signal(signal.SIGALRM, _stop)
    loader = unittest.TestLoader()
    module = importlib.import_module(arguments.module)
    with mock.patch.object(sys, "argv", sys.argv[:1]), contextlib.redirect_stdout(io.StringIO()):
        tests = list(_wanted(loader.loadTestsFromModule(module), set(arguments.done)))
        if arguments.only:
            tests = [t for t in tests if ".".join(t.id().split(".")[-2:]) in arguments.only]
        unittest.TestSuite(tests).run(result)


if __name__ == "__main__":
    main()
