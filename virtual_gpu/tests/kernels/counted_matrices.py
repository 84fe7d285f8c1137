"""Count what ``ldmatrix`` costs for several patterns of rows, by the profiler and here.

``python -m virtual_gpu.tests.kernels.counted_matrices --out FILE.csv`` needs a CUDA device and
Nsight Compute (``ncu``). A row per pattern has its name, the wavefronts that the virtual GPU
counts, and the profiler's metrics. With ``--here`` the latter are left out, and no device is
needed; with ``--launch`` the kernels are only launched.
"""

from __future__ import annotations

import argparse
import csv
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
from numba import cuda
from numba.types import float16

from utils.intrinsics.tensor import ldmatrix_x2, ldmatrix_x4, ldmatrix_x4_trans
from virtual_gpu import trace

METRICS = (
    "smsp__inst_executed_op_ldsm.sum",
    "smsp__inst_executed_op_shared_ld_pred_on_any.sum",
    "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
)
LANES = np.arange(32)
SIZE = 8192


def _kernel(load, elements: int):
    """Return a kernel (positions, out) in which each warp loads matrices from zeros once."""

    @cuda.jit
    def load_matrices(positions, out):
        tile = cuda.shared.array(SIZE, float16, alignment=16)
        part = cuda.local.array(elements, float16)
        t = cuda.threadIdx.x
        for i in range(t, SIZE, cuda.blockDim.x):
            tile[i] = 0
        cuda.syncthreads()
        load(part, tile, positions[t % 32])
        out[t] = part[0] + part[elements - 1]

    return load_matrices


FOUR, TRANSPOSED = _kernel(ldmatrix_x4, 8), _kernel(ldmatrix_x4_trans, 8)
TWO = _kernel(ldmatrix_x2, 4)
PATTERNS = {
    **{f"x4, rows {pitch} elements apart": (FOUR, LANES * pitch) for pitch in (8, 16, 32, 64, 72)},
    "x4.trans, rows 64 elements apart": (TRANSPOSED, LANES * 64),
    "x2, rows 64 elements apart": (TWO, LANES % 16 * 64),
    "x4, one row": (FOUR, LANES * 0),
    "x4, neighbours give the same row": (FOUR, LANES // 2 * 8),
    "x4, lanes two apart give the same row": (FOUR, (LANES // 4 * 2 + LANES % 2) * 8),
    "x4, any rows": (FOUR, np.random.default_rng(8).integers(0, SIZE // 8, 32) * 8),
}


def here(kernel, positions: np.ndarray) -> int:
    """Return the wavefronts of ldmatrix that the virtual GPU counts."""
    run = trace(kernel, 1, 64, positions, np.zeros(64, np.float32))
    return sum(one.wavefronts for one in run.access_counts if one.instruction == "ldmatrix")


def launch() -> None:
    """Launch every pattern once on this machine's device."""
    for kernel, positions in PATTERNS.values():
        kernel[1, 64](cuda.to_device(positions), cuda.to_device(np.zeros(64, np.float32)))
    cuda.synchronize()


def profiled() -> list[dict[str, str]]:
    """Return metric -> value for each pattern, in their order."""
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
    command += ["--kernel-name", "regex:load_matrices", "--metrics", ",".join(METRICS)]
    command += [sys.executable, "-W", "ignore", "-m", __spec__.name, "--launch"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode or '"ID"' not in result.stdout:
        sys.exit(f"The profiler failed: {result.stdout[-2000:]} {result.stderr[-2000:]}")
    table = csv.DictReader(io.StringIO(result.stdout[result.stdout.index('"ID"') :]))
    return [{metric: row.get(metric, "") for metric in METRICS} for row in table if row["ID"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--here", action="store_true", help="count on the virtual GPU alone")
    parser.add_argument("--launch", action="store_true", help="only launch every pattern once")
    options = parser.parse_args()
    if options.launch:
        launch()
        return
    metrics = [{}] * len(PATTERNS) if options.here else profiled()
    rows = [
        {"pattern": name, "wavefronts": here(*pattern), **values}
        for (name, pattern), values in zip(PATTERNS.items(), metrics, strict=True)
    ]
    with options.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
