"""Record what the warps of lesson 18's reductions wait for, as a profiler counts it.

    python -m tools.records.warp_states --out FILE.csv --raw FILE.txt

needs a CUDA device and Nsight Compute (``ncu``). The profiler's output is stored in the second
file; if it is there already, it is read and nothing is launched. ``data/README.md`` describes a
row.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from reduce_kernels.remainder import WarpState, variants
from tools.records.issue_slots import ELEMENTS, launches_of, profile
from utils.machine import devices
from utils.measuring import rows

METRICS = "regex:smsp__average_warps_issue_stalled_.*_per_issue_active"
STATE = re.compile(r"smsp__average_warps_issue_stalled_(\w+)_per_issue_active\.ratio")


def rows_of(text: str, device: str) -> Iterator[WarpState]:
    """Yield a row per kernel and state of a warp, in the order of `variants` and of the names.

    text: the output of `profile`. Raises CourseError if it has no launch of one of the kernels.
    """
    for variant in variants():
        values = launches_of(text, variant.step.name)
        states = {found[1]: values[name] for name in values if (found := STATE.fullmatch(name))}
        for state, cycles in sorted(states.items()):
            yield WarpState(device, variant.step.name, ELEMENTS, state, cycles)


def main() -> None:
    """Profile the kernels, or read the file of --raw, and write the rows into the file of --out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--raw", type=Path, required=True)
    parser.add_argument("--device", help="the name of the GPU, if its output is only read")
    options = parser.parse_args()
    if not options.raw.exists():
        options.raw.write_text(profile(METRICS), encoding="utf-8")
    name = options.device or devices.current().name
    rows.write(options.out, rows_of(options.raw.read_text(encoding="utf-8"), name), WarpState)


if __name__ == "__main__":
    main()
