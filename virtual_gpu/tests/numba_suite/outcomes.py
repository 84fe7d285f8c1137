"""The outcome of a test of Numba under the virtual GPU, and the reason for it.

Outcomes:

- ``passes``: it ran to its end, every assertion held (or failed, where Numba expects that);
- ``does not apply``: it is about machine code, the driver or other things that no virtual GPU has;
- ``refused``: the virtual GPU says in a sentence what it does not know;
- ``finding``: a check of the virtual GPU stops the kernel;
- ``differs``: the kernel ran, and the result is not the one that the test expects;
- ``times out``: it took longer than the time limit of a test;
- ``crashes``: any other exception.

``reasons.csv`` holds what cannot be told from the exception: each row gives an outcome and a reason
to the failures whose file, test and message it names. The first row that fits decides.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

VERSION = "0.30.4"  # of numba-cuda, whose tests the table is about
HERE = Path(__file__).parent
PASSES, NOT_APPLICABLE, REFUSED = "passes", "does not apply", "refused"
FINDING, DIFFERS, TIMES_OUT, CRASHES = "finding", "differs", "times out", "crashes"
OUTCOMES = (PASSES, NOT_APPLICABLE, REFUSED, FINDING, DIFFERS, TIMES_OUT, CRASHES)
FINDINGS = ("OutOfBounds", "Race", "Uninitialised", "BarrierError")
UNEXPLAINED = "?"


@dataclass(frozen=True)
class Rule:
    """A row of reasons.csv.

    ``file`` and ``test`` are shell patterns. ``message`` is a regular expression that is searched
    for in the exception's name and message.
    """

    file: str
    test: str
    message: str
    outcome: str
    reason: str

    def fits(self, file: str, test: str, text: str) -> bool:
        return (
            fnmatchcase(file, self.file)
            and fnmatchcase(test, self.test)
            and re.search(self.message, text) is not None
        )


@cache
def rules() -> tuple[Rule, ...]:
    with (HERE / "reasons.csv").open(encoding="utf-8", newline="") as file:
        return tuple(Rule(**row) for row in csv.DictReader(file))


def outcome_of(file: str, event: dict) -> tuple[str, str]:
    """Return the outcome and the reason of an event that ends a test or a subtest."""
    kind = event["event"]
    if kind in ("succeeds", "part succeeds", "fails as expected"):
        return PASSES, ""
    classes, message = event.get("classes", [kind]), event.get("message", "")
    text = f"{classes[0]}: {message}"
    for rule in rules():
        if rule.fits(file, event["test"], text):
            return rule.outcome, rule.reason
    if kind == "is skipped":
        return CRASHES, f"skipped for a reason that nobody has judged: {message}"
    return _by_exception(classes, message)


def _by_exception(classes: list[str], message: str) -> tuple[str, str]:
    if "TimeLimit" in classes:
        return TIMES_OUT, "more than the time limit of a test"
    if "DoesNotApply" in classes:
        return NOT_APPLICABLE, message
    if any(name in classes for name in FINDINGS):
        return FINDING, _general(message)
    if "VirtualGpuError" in classes:
        return REFUSED, _general(message)
    if "AssertionError" in classes:
        return DIFFERS, UNEXPLAINED
    return CRASHES, f"{classes[0]}: {_general(message)}"


def _general(message: str) -> str:
    """Return a message without the names of one kernel, so that similar messages form one group."""
    text = message.split("\n")[0]
    text = re.sub(r"^[\w<>.]+, line \d+ `.*?`: ", "", text)
    text = re.sub(r"at line \d+ `.*?`", "at a line", text)
    text = re.sub(r" Written before: .*", "", text)
    text = re.sub(r"0x[0-9a-f]+", "0x…", text)
    return text[:160]
