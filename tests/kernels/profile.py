"""Read the profiler's counters of every launch in ``counted`` and write them as data.

``python -m tests.kernels.profile --out FILE.csv`` needs a CUDA device and Nsight Compute (``ncu``).
One row per launch and counter: launch, counter, value, and a reason where the hardware is known to
count something else than the source says (``REASONS``).
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
from pathlib import Path

import pandas as pd

from .counted import launches

# The names of counters.LineCount, and the profiler's counters that are free of noise.
COUNTERS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld_pred_on_any.sum",
    "shared_load_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st_pred_on_any.sum",
    "lanes": "smsp__thread_inst_executed_pipe_lsu_pred_on.sum",
    "shared_store_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}


def profile() -> pd.DataFrame:
    """The profiler's table: one row per launch, one column per counter."""
    command = [
        "ncu", "--clock-control", "none", "--csv", "--page", "raw", "--metrics",
        ",".join(COUNTERS.values()), sys.executable, "-m", "tests.kernels.counted",
    ]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"The profiler failed: {result.stdout[-2000:]} {result.stderr[-2000:]}")
    table = result.stdout[result.stdout.index('"ID"') :]
    return pd.read_csv(io.StringIO(table), dtype=str).dropna(subset=["ID"])


def _number(text: str) -> int:
    """The profiler groups digits by commas."""
    return int(float(text.replace(",", "")))


def rows(table: pd.DataFrame) -> pd.DataFrame:
    """Launches by name: the profiler knows them by their order only."""
    names = [launch.name for launch in launches()]
    if len(table) != len(names):
        sys.exit(f"The profiler saw {len(table)} launches; {len(names)} were made.")
    found = table[list(COUNTERS.values())].map(_number)
    found.columns = list(COUNTERS)
    found.insert(0, "launch", names)
    return found.melt(id_vars="launch", var_name="counter")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows(profile()).to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
