"""Record where the profiler sees spilled numbers go: in L1, in L2, and in global memory.

    python -m tools.records.spill_counters --out FILE.csv

needs a CUDA device and Nsight Compute (``ncu``). The kernels are those of `tools.records.spills`.
Each is launched twice, and the second launch counts.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from numba import cuda

from tools.records.profiler import lines_of, profiled_text
from tools.records.spills import LIMITS, NAME, PRODUCTS, loops, products
from utils.errors import CourseError
from utils.machine import devices
from utils.measuring import rows

STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
LOCAL = "l1tex__t_sectors_pipe_lsu_mem_local_op"
SHARE = "avg.pct_of_peak_sustained_elapsed"
# The profiler's name of a counter -> ours. A share is in percent of what the unit can do.
COUNTERS = {
    "gpu__time_duration.sum": "time_ns",
    "sm__cycles_elapsed.max": "cycles",
    "smsp__inst_executed.sum": "instructions",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue_percent",
    f"{LOCAL}_ld.sum": "local_load_sectors",
    f"{LOCAL}_ld_lookup_hit.sum": "local_load_sectors_hit_in_l1",
    f"{LOCAL}_st.sum": "local_store_sectors",
    "lts__t_sectors_op_read.sum": "l2_read_sectors",
    "lts__t_sectors_op_write.sum": "l2_write_sectors",
    f"lts__t_sectors.{SHARE}": "l2_percent",
    f"l1tex__m_l1tex2xbar_req_cycles_active.{SHARE}": "l1_to_l2_percent",
    f"l1tex__data_pipe_lsu_wavefronts.{SHARE}": "wavefronts_percent",
    "dram__bytes_read.sum": "dram_read_bytes",
    "dram__bytes_write.sum": "dram_write_bytes",
    STALLED.format("lg_throttle"): "lg_throttle",
    STALLED.format("long_scoreboard"): "long_scoreboard",
}


@dataclass(frozen=True)
class SpillCounter:
    """One counter of a launch of a kernel with this limit on its registers, or None without one."""

    device: str
    kernel: str
    max_registers: int | None
    counter: str
    value: float


def launches() -> list[tuple[str, int | None]]:
    """Return the kernel and the limit of its registers of each launch, in their order."""
    return [("fma_loop", limit) for limit in LIMITS] + [
        (f"{NAME} {name}", None) for name in PRODUCTS
    ]


def launch() -> None:
    """Launch each kernel twice; the profiler sees the second launch."""
    for rival in itertools.chain(loops(), products()):
        rival.run()
        cuda.synchronize()
        with cuda.profiling():
            rival.run()
            cuda.synchronize()


def profile() -> str:
    """Return the CSV text that the profiler prints; exit if the profiler fails."""
    options = ["--cache-control", "none", "--profile-from-start", "off"]
    options += ["--metrics", ",".join(COUNTERS)]
    return profiled_text(options, "tools.records.spill_counters", "--launch")


def rows_of(
    text: str, launched: Sequence[tuple[str, int | None]], device: str
) -> Iterator[SpillCounter]:
    """Yield a row per launch and counter, in the order of the launches.

    text: what `profile` returns. launched: what `launches` returns. Raises CourseError unless the
    profiler saw each launch, once.
    """
    table = lines_of(text)
    seen = dict.fromkeys(line["ID"] for line in table)
    if len(seen) != len(launched):
        raise CourseError(f"The profiler saw {len(seen)} of {len(launched)} launches.")
    place = dict(zip(seen, launched, strict=True))
    for line in table:
        if counter := COUNTERS.get(line["Metric Name"]):
            value = float(line["Metric Value"].replace(",", ""))
            yield SpillCounter(device, *place[line["ID"]], counter, value)


def main() -> None:
    """Profile the kernels and write the rows into the file of the option --out.

    With --launch, only launch the kernels, which the profiler then observes.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--launch", action="store_true", help="only launch the kernels")
    options = parser.parse_args()
    if options.launch:
        launch()
        return
    found = rows_of(profile(), launches(), devices.current().name)
    rows.write(options.out, list(found), SpillCounter)


if __name__ == "__main__":
    main()
