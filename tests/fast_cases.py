"""Which cases of an expensive test run with every `make test`, and which with `make slow` alone.

`fast_cases.csv` names the tests whose cases cost more processor time together than one test may.
`python -m tools.measure_tests` measures and writes it.
"""

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import pytest

TABLE = Path(__file__).with_name("fast_cases.csv")
# Whether the cases of an expression for pytest's option -m are the slow ones.
EXPRESSIONS = {"slow": True, "not slow": False}
# Test -> number of its cases without a mark of their own, before any was marked or left out.
NUMBERS: dict[str, int] = {}


def test_of(nodeid: str) -> str:
    """Return the test function of a case: its id without the parameters."""
    return nodeid.partition("[")[0]


def cases_of(items: Iterable[pytest.Item]) -> dict[str, list[pytest.Item]]:
    """Return the cases of each test function, without those whose own mark is `slow`."""
    cases = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("slow"):
            cases[test_of(item.nodeid)].append(item)
    return cases


@cache
def read() -> dict[str, int]:
    """Return how many cases `make test` runs, for each test function in the table."""
    with TABLE.open(encoding="utf-8", newline="") as lines:
        return {row["test"]: int(row["cases"]) for row in csv.DictReader(lines)}


def spread(cases: Sequence, number: int) -> list:
    """Return `number` of the cases, evenly spaced."""
    return [cases[(2 * at + 1) * len(cases) // (2 * number)] for at in range(number)]


def choose(metafunc: pytest.Metafunc) -> None:
    """Mark the cases of one test that the table leaves out, and drop those that -m leaves out.

    They are dropped before pytest makes an item of each, which takes most of the time of
    collecting. One case always stays, because pytest would run the test without parameters.
    """
    calls, test = metafunc._calls, metafunc.definition.nodeid
    if not calls:  # a test without parameters
        return
    if metafunc.definition.get_closest_marker("slow"):
        slow = calls
    else:
        fast = [one for one in calls if not any(mark.name == "slow" for mark in one.marks)]
        NUMBERS[test] = len(fast)
        kept = {id(one) for one in spread(fast, min(len(fast), read().get(test, len(fast))))}
        for one in fast:
            if id(one) not in kept:
                one.marks.append(pytest.mark.slow.mark)
        slow = [one for one in calls if id(one) not in kept]
    wanted = EXPRESSIONS.get(metafunc.config.getoption("markexpr"))
    if wanted is not None:
        slow_ids = {id(one) for one in slow}
        calls[:] = [one for one in calls if (id(one) in slow_ids) == wanted] or calls[:1]


def mark_slow(items: Iterable[pytest.Item]) -> None:
    """Mark the cases that the table leaves out as `slow`; `choose` has marked most of them."""
    table = read()
    for test, cases in cases_of(items).items():
        kept = spread(cases, min(len(cases), table.get(test, len(cases))))
        for item in cases:
            if item not in kept:
                item.add_marker(pytest.mark.slow)
