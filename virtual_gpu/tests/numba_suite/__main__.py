"""Run Numba's own CUDA tests under the virtual GPU.

``python -m virtual_gpu.tests.numba_suite`` prints the number of tests per outcome; ``--record``
writes the table to ``outcomes.csv``. It takes some minutes and needs no device.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from .outcomes import OUTCOMES, PASSES
from .run import RunLimits, events, modules, run
from .table import read, write


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m virtual_gpu.tests.numba_suite", description=__doc__
    )
    parser.add_argument("modules", nargs="*", help="such as test_math; all where none is named")
    parser.add_argument("--only", action="append", default=[], help="a test: Class.method")
    parser.add_argument("--record", action="store_true", help="write outcomes.csv")
    parser.add_argument("--groups", action="store_true", help="show reasons by count")
    parser.add_argument("--traceback", action="store_true", help="show what the tests raise")
    parser.add_argument("--seconds", type=int, default=10, help="time limit of a test")
    parser.add_argument("--processes", type=int, default=2, help="modules at the same time")
    arguments = parser.parse_args()
    names, only = arguments.modules or modules(), tuple(arguments.only)
    limits = RunLimits(arguments.seconds, arguments.processes)
    if arguments.traceback:
        for name in names:
            for event in events(name, limits, only):
                if "traceback" in event:
                    print(f"--- {event['test']}\n{event['traceback']}")
        return 0
    rows = run(names, limits, only)
    if arguments.record and not only:
        others = [row for row in read() if row.file not in names]
        write([*others, *rows])
    show(rows, arguments.groups)
    return 0


def show(rows: list, by_reason: bool) -> None:
    """Print the number of tests per outcome; with ``by_reason`` also per reason."""
    counts = Counter()
    for row in rows:
        counts[row.outcome] += row.count
    for outcome in OUTCOMES:
        print(f"{counts[outcome]:5} {outcome}")
    print(f"{sum(counts.values()):5} in all")
    if by_reason:
        groups, where = Counter(), {}
        for row in rows:
            if row.outcome != PASSES:
                groups[row.outcome, row.reason] += row.count
                where.setdefault((row.outcome, row.reason), Counter())[row.file] += row.count
        for (outcome, reason), count in groups.most_common():
            files = ", ".join(f"{name} {n}" for name, n in where[outcome, reason].most_common(4))
            print(f"{count:5} {outcome}: {reason} [{files}]")


if __name__ == "__main__":
    sys.exit(main())
