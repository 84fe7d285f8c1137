"""Kernels for movies, of one block each, with different memory accesses."""

import numpy as np
from numba import complex64, cuda, float32, float64

from gemm_kernels import naive, naive_strided, tiled
from reduce_kernels import reduce1, reduce2
from utils.intrinsics.wide_memory import load4, store4
from virtual_gpu import Trace, trace


def filmed(kernel, block, *arguments, grid=1, **options) -> Trace:
    """Return a recorded trace of the first block alone, so that its counts equal its film's."""
    return trace(kernel, grid, block, *arguments, blocks=1, record=0, **options)


def product(kernel, block, m, k=None, n=None, grid=1, **options) -> Trace:
    k, n = k or m, n or m
    random = np.random.default_rng(0)
    shapes = ((m, k), (k, n), (m, n))
    matrices = [random.random(shape, np.float32) for shape in shapes]
    return filmed(kernel, block, *matrices, grid=grid, **options)


def reduction(module, block, **options) -> Trace:
    x = np.ones(block, np.float32)
    return filmed(module.build(block), block, x, np.zeros(1, np.float32), **options)


@cuda.jit
def warp_sum(x, out):
    i = cuda.grid(1)
    total = x[i]
    for apart in (16, 8, 4, 2, 1):
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, apart)
    if cuda.laneid == 0:
        cuda.atomic.add(out, 0, total)


@cuda.jit
def transposed_float64(x, out):
    tile = cuda.shared.array((16, 16), float64)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    tile[i, j] = x[i, j]
    cuda.syncthreads()
    out[j, i] = tile[i, j]


@cuda.jit
def copied_wide(x, out):
    tile = cuda.shared.array((32, 4), float32)
    t = cuda.threadIdx.x
    store4(tile, (t, 0), load4(x, 4 * t))
    cuda.syncwarp()
    store4(out, 4 * t, load4(tile, (t // 2, 0)))


@cuda.jit
def copied_complex(x, out):
    tile = cuda.shared.array(64, complex64)
    t = cuda.threadIdx.x
    tile[t] = x[2 * t]
    cuda.syncthreads()
    out[t] = tile[63 - t]


@cuda.jit
def counted(x, bins):
    cuda.atomic.add(bins, x[cuda.grid(1)] % 8, 1)


@cuda.jit
def copied_in_order_of_columns(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = x[i, j]


FLOAT64 = (16, 16)
FILMS = {
    "naive": lambda: product(naive.naive, (4, 4), 8, grid=(2, 2)),
    "naive of 32": lambda: product(naive.naive, (32, 8), 32, grid=(1, 4)),
    "naive_strided": lambda: product(naive_strided.naive_strided, (32, 8), 32, grid=(1, 4)),
    "tiled": lambda: product(tiled.build(4), (4, 4), 8, grid=(2, 2)),
    "tiled with edges": lambda: product(tiled.build(4), (4, 4), 3, 10, 9, grid=(3, 1)),
    "tiled of 32": lambda: product(tiled.build(32), (32, 32), 32),
    "reduce1": lambda: reduction(reduce1, 64, values=True),
    "reduce2": lambda: reduction(reduce2, 64, values=True),
    "reduce1 of 1024": lambda: reduction(reduce1, 1024),
    "warp_sum": lambda: filmed(
        warp_sum, 64, np.arange(64, dtype=np.float32), np.zeros(1, np.float32), values=True
    ),
    "float64": lambda: filmed(transposed_float64, FLOAT64, np.ones(FLOAT64), np.zeros(FLOAT64)),
    "wide": lambda: filmed(copied_wide, 32, np.ones(128, np.float32), np.zeros(128, np.float32)),
    "complex": lambda: filmed(
        copied_complex, 64, np.ones(128, np.complex64), np.zeros(64, np.complex64)
    ),
    "atomics": lambda: filmed(counted, 64, np.arange(64), np.zeros(8, np.int64), values=True),
    "bytes": lambda: filmed(
        copied_in_order_of_columns, (8, 4), np.ones((7, 5), np.int8), np.zeros((7, 5), np.int8)
    ),
    "columns": lambda: filmed(
        copied_in_order_of_columns,
        (8, 4),
        np.asfortranarray(np.ones((8, 4), np.float32)),
        np.zeros((8, 4), np.float32),
    ),
}
