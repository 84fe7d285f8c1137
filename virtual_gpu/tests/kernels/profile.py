"""Read the profiler's counters of every launch in ``counted`` and write them as data.

``python -m virtual_gpu.tests.kernels.profile --out FILE.csv`` needs a CUDA device and Nsight
Compute (``ncu``). One row per launch and counter: launch, counter, value, reason. The reason is
empty where the virtual GPU must count the same; otherwise it says what the compiler made of the
source.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
from pathlib import Path

import pandas as pd

from .counted import launches

# The names of counters.LineCount, and the counters that are free of noise. An instruction that
# every lane skips is left out (pred_on_any).
COUNTERS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld_pred_on_any.sum",
    "shared_load_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st_pred_on_any.sum",
    "shared_store_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}
MERGED = "the compiler reads neighbouring elements of shared memory with one instruction"
COPIED = "an asynchronous copy (LDGSTS) is no store to shared memory for the profiler"
PARTED = "lanes that have parted execute it one after another: as many lanes, more requests"
SPREAD = "an asynchronous copy counts a sector for every 32 bytes that it writes, whatever it reads"
WAITING = "the barrier of the whole grid is a function of CUDA's runtime that reads its own counter"
KEPT = "the compiler keeps what was just stored in a register, and does not load it again"
LOOPING = "an atomic on float64 in shared memory is a loop around a compare-and-swap"
READS = ("shared_load_requests", "shared_load_wavefronts", "lanes")
COPIES = ("shared_store_requests", "shared_store_wavefronts", "lanes")
GLOBAL_READS = ("global_load_requests", "global_load_sectors", "lanes")
JOINED = (
    *("tiled_8", "tiled_16", "tiled_32", "tiled_transposed_32", "tiled_padded_32"),
    *("tiled_rectangular_32_32_64", "granularity_4_32", "ilp_8"),
    *("register_blocked_1d_64_64_16_8", "register_blocked_64_128_8_8"),
)
COPYING = (
    *("async_copy_128_256_8", "guard_free_128_256_8", "register_banks_128_256_8"),
    "autotuned_96_128_16_12_8_3_0_1",
)
REASONS = {
    **{(launch, counter): MERGED for launch in JOINED for counter in READS},
    **{("shared_atomics", counter): LOOPING for counter in READS},
    **{(launch, counter): COPIED for launch in COPYING for counter in COPIES},
    # Lanes beyond the last column copy the last one once more, each to a place of its own.
    **{(launch, "global_load_sectors"): SPREAD for launch in COPYING[1:]},
    **{("multi_output_by_column_8", counter): KEPT for counter in GLOBAL_READS},
    ("async_copy_128_256_8", "shared_load_requests"): PARTED,
    ("reduce_cooperative_256", "global_load_requests"): WAITING,
    ("reduce_cooperative_256", "global_load_sectors"): WAITING,
    ("maxwell64", "shared_load_requests"): PARTED,
    ("reduce0_1024", "shared_load_requests"): PARTED,
    ("reduce0_1024", "shared_store_requests"): PARTED,
}


def ncu(*options: str) -> str:
    """Run the profiler on all launches and return its output."""
    command = ["ncu", "--clock-control", "none", "--profile-from-start", "off", "--csv", *options]
    command += [sys.executable, "-W", "ignore", "-m", "virtual_gpu.tests.kernels.counted"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"The profiler failed: {result.stdout[-2000:]} {result.stderr[-2000:]}")
    return result.stdout


def counters() -> pd.DataFrame:
    """Return a table with one row per launch, in their order, and one column per counter."""
    text = ncu("--page", "raw", "--metrics", ",".join(COUNTERS.values()))
    table = pd.read_csv(io.StringIO(text[text.index('"ID"') :]), dtype=str).dropna(subset=["ID"])
    counts = table[list(COUNTERS.values())].map(_number)
    counts.columns = list(COUNTERS)
    return counts


def lanes() -> list[int]:
    """Return, per launch, the sum of active lanes of its global and shared memory instructions."""
    text = ncu("--page", "source", "--section", "SourceCounters", "--import-source", "no")
    sections = text[text.index('"Kernel Name"') :].split('"Kernel Name"')[1:]
    # A function that is not inlined, such as the barrier of a cooperative launch, has a section of
    # its own behind its kernel's.
    left, totals = iter(sections), []
    for launch in launches():
        name = launch.kernel.py_func.__name__
        section = next(each for each in left if name in each.partition("\n")[0])
        totals.append(_lanes_of(section[section.index('"Address"') :]))
    return totals


def _lanes_of(listing: str) -> int:
    rows = "\n".join(line for line in listing.splitlines() if line.startswith('"'))
    table = pd.read_csv(io.StringIO(rows), dtype=str, index_col=False)
    memory = table[table["Address Space"].isin(["Global", "Shared"])]
    return memory["Predicated-On Thread Instructions Executed"].map(_number).sum()


def _number(text: str) -> int:
    """Return the number in a text whose digits the profiler groups by commas."""
    return int(float(text.replace(",", "")))


def rows() -> pd.DataFrame:
    """Return the counters in long form with the names of launches, and the reasons.

    The profiler identifies launches by their order only.
    """
    names = [launch.name for launch in launches()]
    table = counters().assign(lanes=lanes())
    if len(table) != len(names):
        sys.exit(f"The profiler saw {len(table)} launches; {len(names)} were made.")
    table.insert(0, "launch", names)
    long = table.melt(id_vars="launch", var_name="counter")
    keys = zip(long["launch"], long["counter"], strict=True)
    return long.assign(reason=[REASONS.get(key, "") for key in keys])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows().to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
