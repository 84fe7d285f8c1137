"""Run Numba's tests, each module in a process of its own, and collect their outcomes."""

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

ROOT = Path(__file__).parents[3]
WORKER = "virtual_gpu.tests.numba_suite.worker"
PACKAGE = "numba.cuda.tests.cudapy"
ENDS = ("succeeds", "raises", "is skipped", "fails as expected", "succeeds against expectation")
PARTS = ("part succeeds", "part raises")


@dataclass(frozen=True)
class OutcomeRow:
    """The outcome of one test, or of all of its subtests that have the same outcome."""

    file: str
    test: str
    count: int
    outcome: str
    reason: str


@dataclass(frozen=True)
class RunLimits:
    """The seconds for one test, and the number of processes at the same time."""

    seconds: int = 10
    processes: int = 2


def modules() -> list[str]:
    """Return the names of the test modules of the installed numba-cuda."""
    spec = importlib.util.find_spec(PACKAGE)
    folder = Path(next(iter(spec.submodule_search_locations)))
    return sorted(path.stem for path in folder.glob("test_*.py"))


def run(names: Iterable[str], limits: RunLimits, only: tuple[str, ...] = ()) -> list[OutcomeRow]:
    """Return the outcomes of the tests of these modules, or of ``only`` some, sorted by name."""
    with ThreadPoolExecutor(limits.processes) as pool:
        modules_rows = pool.map(lambda name: list(rows(name, events(name, limits, only))), names)
        return [row for module_rows in modules_rows for row in module_rows]


def events(name: str, limits: RunLimits, only: tuple[str, ...] = ()) -> list[dict]:
    """Return the events of the tests of one module.

    If a test ends its process, the remaining tests run in the next one.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "events"
        out.touch()
        while True:
            done = [e["test"] for e in _read(out) if e["event"] == "ends"]
            broken = _process(name, out, limits, only, done)
            events_so_far = _read(out)
            running = {e["test"] for e in events_so_far if e["event"] == "starts"}
            running -= {e["test"] for e in events_so_far if e["event"] == "ends"}
            if broken is None:
                return events_so_far
            died = {"event": "raises", "classes": ["ProcessDied"], "message": broken}
            if not running:
                return [*events_so_far, {"test": "", **died}]
            with out.open("a", encoding="utf-8") as file:
                for test in running:
                    for line in ({"test": test, **died}, {"test": test, "event": "ends"}):
                        file.write(json.dumps(line) + "\n")


def _process(name: str, out: Path, limits: RunLimits, only: tuple, done: list[str]) -> str | None:
    """Run the tests that are not done; return the reason if the process failed, else None."""
    command = [sys.executable, "-m", WORKER, f"{PACKAGE}.{name}", str(out)]
    command += [f"--seconds={limits.seconds}"]
    command += [f"--only={test}" for test in only] + [f"--done={test}" for test in done]
    limit = 60 * limits.seconds
    paths = os.pathsep.join(map(str, (Path(__file__).parent / "site", ROOT)))
    options = {"cwd": ROOT, "env": os.environ | {"PYTHONPATH": paths}}
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=limit, **options)
    except subprocess.TimeoutExpired:
        return f"the module's tests took more than {limit} seconds"
    if ended.returncode == 0:
        return None
    return (ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"])[-1]


def _read(out: Path) -> list[dict]:
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def rows(name: str, module_events: list[dict]) -> Iterator[OutcomeRow]:
    """Yield the table's rows of one module. Subtests are counted instead of their test."""
    with_parts = {e["test"] for e in module_events if e["event"] in PARTS}
    counts: Counter = Counter()
    for event in module_events:
        whole = event["event"] in ENDS
        if whole and event["event"] == "succeeds" and event["test"] in with_parts:
            continue
        if whole or event["event"] in PARTS:
            counts[(event["test"], *outcomes.outcome_of(name, event))] += 1
    for (test, outcome, reason), count in sorted(counts.items()):
        yield OutcomeRow(name, test, count, outcome, reason)
