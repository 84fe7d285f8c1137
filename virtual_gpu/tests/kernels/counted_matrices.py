"""Record what ``ldmatrix`` and accesses of 16 bytes by some lanes cost on a device.

``python -m virtual_gpu.tests.kernels.counted_matrices --out FILE.csv`` needs a CUDA device and
Nsight Compute (``ncu``). A row per pattern has its name and, from the profiler, the requests of
``ldmatrix``, the wavefronts of all loads from shared memory, those of stores, and the bank
conflicts of loads. With ``--launch`` the kernels are only launched.
"""

from __future__ import annotations

import argparse
import csv
import io
import subprocess
import sys
from pathlib import Path

import numpy as np
from numba import cuda, float32
from numba.types import float16

from utils.intrinsics.tensor import ldmatrix_x2, ldmatrix_x4, ldmatrix_x4_trans
from utils.intrinsics.wide_memory import load4, store4

METRICS = {
    "requests": "smsp__inst_executed_op_ldsm.sum",
    "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "store_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
}
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


@cuda.jit
def wide_load(quads, out):
    tile = cuda.shared.array(SIZE, float32, alignment=16)
    t = cuda.threadIdx.x
    for i in range(t, SIZE, cuda.blockDim.x):
        tile[i] = t
    cuda.syncthreads()
    quad = quads[t % 32]
    if quad >= 0:
        p, q, r, s = load4(tile, quad * 4)
        out[t] = p + q + r + s


@cuda.jit
def wide_store(quads, out):
    tile = cuda.shared.array(SIZE, float32, alignment=16)
    t = cuda.threadIdx.x
    quad = quads[t % 32]
    if quad >= 0:
        store4(tile, quad * 4, (out[0], out[1], out[2], out[3]))
    cuda.syncthreads()
    if t == 0:
        out[0] = tile[quads[31] * 4]


FOUR, TRANSPOSED = _kernel(ldmatrix_x4, 8), _kernel(ldmatrix_x4_trans, 8)
TWO = _kernel(ldmatrix_x2, 4)
# The quad of words that each lane accesses, -1: none.
QUADS = {
    "all lanes": LANES,
    "neighbours the same": LANES // 2,
    "every fourth lane, each a row of 64 bytes": np.where(LANES % 4 == 3, LANES, -1),
    "every fourth lane, neighbouring quads": np.where(LANES % 4 == 3, LANES // 4, -1),
    "every second lane, neighbouring quads": np.where(LANES % 2 == 1, LANES // 2, -1),
    "every second lane, rows of 64 bytes": np.where(LANES % 2 == 1, LANES * 2, -1),
    "neighbours the same, but some lanes": np.where(LANES % 5 != 0, LANES // 2, -1),
    "lanes from 24 on": np.where(LANES >= 24, LANES, -1),
    "lanes from 16 on, rows of 128 bytes": np.where(LANES >= 16, LANES * 8, -1),
}
PATTERNS = {
    **{f"x4, rows {pitch} elements apart": (FOUR, LANES * pitch) for pitch in (8, 16, 32, 64, 72)},
    "x4.trans, rows 64 elements apart": (TRANSPOSED, LANES * 64),
    "x2, rows 64 elements apart": (TWO, LANES % 16 * 64),
    "x4, one row": (FOUR, LANES * 0),
    "x4, neighbours give the same row": (FOUR, LANES // 2 * 8),
    "x4, lanes two apart give the same row": (FOUR, (LANES // 4 * 2 + LANES % 2) * 8),
    **{
        f"{kind} of 16 bytes, {name}": (kernel, quads)
        for kind, kernel in (("load", wide_load), ("store", wide_store))
        for name, quads in QUADS.items()
    },
    "x4, any rows": (FOUR, np.random.default_rng(8).integers(0, SIZE // 8, 32) * 8),
}


def launch() -> None:
    """Launch every pattern once on this machine's device."""
    for kernel, positions in PATTERNS.values():
        kernel[1, 64](cuda.to_device(positions), cuda.to_device(np.zeros(64, np.float32)))
    cuda.synchronize()


def profiled() -> list[dict[str, int]]:
    """Return a dict from name to count, as in METRICS, for each pattern in their order."""
    command = ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
    command += ["--kernel-name", "regex:load_matrices|wide_"]
    command += ["--metrics", ",".join(METRICS.values())]
    command += [sys.executable, "-W", "ignore", "-m", __spec__.name, "--launch"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode or '"ID"' not in result.stdout:
        sys.exit(f"The profiler failed: {result.stdout[-2000:]} {result.stderr[-2000:]}")
    table = csv.DictReader(io.StringIO(result.stdout[result.stdout.index('"ID"') :]))
    return [
        {name: int(float(row[metric].replace(",", ""))) for name, metric in METRICS.items()}
        for row in table
        if row["ID"]  # below the header is a row of units
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--launch", action="store_true", help="only launch every pattern once")
    options = parser.parse_args()
    if options.launch:
        launch()
        return
    rows = [
        {"pattern": name, **counts} for name, counts in zip(PATTERNS, profiled(), strict=True)
    ]
    with options.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["pattern", *METRICS], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
