"""Runs Numba's tests, each module in a process of its own, and gathers what became of them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import outcomes

ROOT = Path(__file__).parents[2]
PACKAGE = "numba.cuda.tests.cudapy"
ENDS = ("succeeds", "raises", "is skipped", "fails as expected", "succeeds against expectation")
PARTS = ("part succeeds", "part raises")


@dataclass(frozen=True)
class Row:
    """What became of one test, or of those of its subtests that have one outcome in common."""

    file: str
    test: str
    count: int
    outcome: str
    reason: str


@dataclass(frozen=True)
class Limits:
    """``seconds`` for a test, ``processes`` at the same time."""

    seconds: int = 10
    processes: int = 2


def modules() -> list[str]:
    """The names of the test modules of the installed numba-cuda."""
    spec = importlib.util.find_spec(PACKAGE)
    folder = Path(next(iter(spec.submodule_search_locations)))
    return sorted(path.stem for path in folder.glob("test_*.py"))


def run(names: Iterable[str], limits: Limits, only: tuple[str, ...] = ()) -> list[Row]:
    """What becomes of the tests of these modules, or of some tests of theirs, sorted by name."""
    with ThreadPoolExecutor(limits.processes) as pool:
        found = pool.map(lambda name: list(rows(name, events(name, limits, only))), names)
        return [row for of_module in found for row in of_module]


def events(name: str, limits: Limits, only: tuple[str, ...] = ()) -> list[dict]:
    """What happens in the tests of one module. A test that ends its process is left out of the
    next one."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "events"
        out.touch()
        while True:
            done = [e["test"] for e in _read(out) if e["event"] == "ends"]
            broken = _process(name, out, limits, only, done)
            found = _read(out)
            running = {e["test"] for e in found if e["event"] == "starts"}
            running -= {e["test"] for e in found if e["event"] == "ends"}
            if broken is None:
                return found
            died = {"event": "raises", "classes": ["ProcessDied"], "message": broken}
            if not running:
                return [*found, {"test": "", **died}]
            with out.open("a", encoding="utf-8") as file:
                for test in running:
                    for line in ({"test": test, **died}, {"test": test, "event": "ends"}):
                        file.write(json.dumps(line) + "\n")


def _process(name: str, out: Path, limits: Limits, only: tuple, done: list[str]) -> str | None:
    """Runs the tests that are not done; how the process failed, or None."""
    command = [sys.executable, "-m", "virtual_gpu.tests.numba_suite.worker", f"{PACKAGE}.{name}", str(out)]
    command += [f"--seconds={limits.seconds}"]
    command += [f"--only={test}" for test in only] + [f"--done={test}" for test in done]
    limit = 60 * limits.seconds
    paths = os.pathsep.join(map(str, (Path(__file__).parent / "site", ROOT)))
    given = {"cwd": ROOT, "env": os.environ | {"PYTHONPATH": paths}}
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=limit, **given)
    except subprocess.TimeoutExpired:
        return f"the module's tests took more than {limit} seconds"
    if ended.returncode == 0:
        return None
    return (ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"])[-1]


def _read(out: Path) -> list[dict]:
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def rows(name: str, found: list[dict]) -> Iterator[Row]:
    """The table's rows of one module. Parts are counted in the place of their test."""
    with_parts = {e["test"] for e in found if e["event"] in PARTS}
    counts: Counter = Counter()
    for event in found:
        whole = event["event"] in ENDS
        if whole and event["event"] == "succeeds" and event["test"] in with_parts:
            continue
        if whole or event["event"] in PARTS:
            counts[(event["test"], *outcomes.outcome_of(name, event))] += 1
    for (test, outcome, reason), count in sorted(counts.items()):
        yield Row(name, test, count, outcome, reason)
