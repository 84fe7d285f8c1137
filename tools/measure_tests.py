"""Measure the cost of tests, and write how many of their cases `make test` runs.

The file is a command, and the plugin by which the command's pytest measures.

    python -m tools.measure_tests              measure the tests of `make test`, and mend the table
    python -m tools.measure_tests --all        every case that no mark of its own makes slow
    python -m tools.measure_tests tests/labs   these tests alone; the others' rows stay

A test function may cost `make test` SECONDS of processor time. If its cases cost more, as many of
them stay as fit, spread evenly; one stays if it costs less than ALONE. Tests that no longer exist
lose their rows.
"""

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest

from tests import fast_cases
from utils.paths import ROOT

SECONDS, ALONE = 0.25, 0.5


def pytest_addoption(parser):
    """Add the option --costs to pytest: the folder for the measured costs."""
    parser.addoption("--costs", metavar="FOLDER", help="where to write what each test cost")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Write a file with test -> number of its cases, before any case is marked or left out."""
    cases = {test: len(group) for test, group in fast_cases.cases_of(items).items()}
    cases |= fast_cases.NUMBERS
    _file(config, "cases").write_text(json.dumps(cases))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    """Run one case, and append a line with its test and its processor seconds to a file.

    The line is JSON, [test, seconds], in the file "seconds" of this process.
    """
    before = _processor_seconds()
    yield
    line = json.dumps([fast_cases.test_of(item.nodeid), _processor_seconds() - before])
    with _file(item.config, "seconds").open("a") as lines:
        print(line, file=lines)


def _file(config, kind: str) -> Path:
    """Return the path of the file into which this process writes costs, in the folder of --costs.

    kind: "cases" or "seconds".
    """
    return Path(config.getoption("--costs")) / f"{kind}.{os.getpid()}"


def _processor_seconds() -> float:
    """Return the processor seconds of this process and of its finished child processes."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main(arguments: list[str]) -> int:
    """Measure the tests, rewrite the table of `make test`, and return pytest's exit code.

    The arguments are files or folders of tests, by default all. With --all, cases that the table
    leaves out are measured, too. arguments: the words of the command line.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tools.measure_tests", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("tests", nargs="*", metavar="TESTS", help="files or folders; default: all")
    parser.add_argument("--all", action="store_true", help="also cases that the table leaves out")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.measure_tests"]
        command += [f"--costs={folder}", "--numprocesses", "auto", "--dist", "loadfile"]
        command += ["-m", "not slow", *["--every-case"] * given.all, *given.tests]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        cases, seconds = _measured(Path(folder))
    kept = {} if given.all else fast_cases.read()
    table = table_from(cases, seconds, kept, complete=not given.tests)
    with fast_cases.TABLE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("test", "cases"))
        writer.writerows(sorted(table.items()))
    print(f"{fast_cases.TABLE.relative_to(ROOT)}: {len(table)} tests")
    return status


def _measured(folder: Path) -> tuple[dict[str, int], dict[str, list[float]]]:
    """Return the numbers of cases by test, and the seconds of the cases that ran by test.

    Both are dicts; the values of the second one are lists with a number per case. folder: the
    folder of the option --costs.
    """
    (cases, *_) = (json.loads(file.read_text()) for file in folder.glob("cases.*"))
    seconds = defaultdict(list)
    for file in folder.glob("seconds.*"):
        for test, cost in map(json.loads, file.read_text().splitlines()):
            seconds[test].append(cost)
    return cases, seconds


def table_from(
    cases: dict[str, int], seconds: dict[str, list[float]], kept: dict[str, int], complete: bool
) -> dict[str, int]:
    """Return a dict from a test to the number of its cases that `make test` runs: the table's rows.

    Only tests that cost more than `SECONDS` have a row. Its number is that of the cases which fit
    into `SECONDS` at the test's mean cost per case, or, if none does, 1 if that cost is below
    `ALONE` and else 0; a smaller number so far is kept. cases: the number of cases of each test.
    seconds: the seconds of each case that ran, by test. kept: the rows so far; a test stays in the
    table until every case is measured again. complete: True if all tests were collected, so that
    rows of other tests are dropped.
    """
    table = {test: number for test, number in kept.items() if test in cases or not complete}
    for test, costs in seconds.items():
        mean = max(sum(costs) / len(costs), 1e-9)
        fitting = max(int(SECONDS / mean), int(mean < ALONE))
        if fitting < cases[test] and fitting < table.get(test, cases[test]):
            table[test] = fitting
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
