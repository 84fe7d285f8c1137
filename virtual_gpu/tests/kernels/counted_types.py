"""Launches for the profiler whose elements are not single float32 numbers.

Complex numbers, records, numbers of 1, 2 and 8 bytes; gathers, dynamic shared memory, warps that
are not full.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import cuda, from_dtype, int32, types, uint32

from .counted_launch import CountedLaunch

GRID, BLOCK = 3, 96
THREADS = GRID * BLOCK
PARTICLE = np.dtype([("x", np.float32), ("id", np.int32), ("mass", np.float64)])
PARTICLE_TYPE = from_dtype(PARTICLE)
CELL = np.dtype([("at", np.float32, (3,)), ("on", np.int8)], align=True)


@cache
def strided(stride):
    """Every thread copies one element of any type; neighbours lie ``stride`` elements apart."""

    @cuda.jit
    def kernel(x, out):
        i = uint32(cuda.grid(1))
        out[i * uint32(stride)] = x[i * uint32(stride)]

    return kernel


@cache
def shared_of(dtype, stride):
    """Lanes store and load elements of shared memory ``stride`` apart."""
    size, kind = BLOCK * stride, getattr(types, dtype)

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(size, kind)
        t, i = uint32(cuda.threadIdx.x), uint32(cuda.grid(1))
        tile[t * uint32(stride)] = x[i]
        cuda.syncthreads()
        # Another warp's elements: no value can stay in a register.
        out[i] = tile[((t + uint32(32)) % uint32(BLOCK)) * uint32(stride)]

    return kernel


@cache
def transpose_of(dtype, pitch):
    """A tile of 16×16 elements goes through shared memory with rows of ``pitch`` elements."""
    kind = getattr(types, dtype)

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array((16, pitch), kind)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        column, row = uint32(cuda.blockIdx.x) * uint32(16), uint32(cuda.blockIdx.y) * uint32(16)
        tile[ty, tx] = x[row + ty, column + tx]
        cuda.syncthreads()
        out[column + ty, row + tx] = tile[tx, ty]

    return kernel


@cuda.jit
def record_field(particles, out):
    i = uint32(cuda.grid(1))
    out[i] = particles[i].x


@cuda.jit
def record_fields(particles, out):
    i = uint32(cuda.grid(1))
    particles[i].id = out[i]
    out[i] = particles[i].mass


@cuda.jit
def record_array_field(cells, out):
    i = uint32(cuda.grid(1))
    out[i] = cells[i].at[uint32(1)]
    cells[i].on = 1


@cuda.jit
def record_in_shared(x, out):
    tile = cuda.shared.array(BLOCK, PARTICLE_TYPE)
    t, i = uint32(cuda.threadIdx.x), uint32(cuda.grid(1))
    tile[t].mass = x[i]
    cuda.syncthreads()
    out[i] = tile[(t + uint32(32)) % uint32(BLOCK)].mass


@cuda.jit
def gather(x, indices, out):
    i = uint32(cuda.grid(1))
    out[i] = x[uint32(indices[i])]


@cuda.jit
def scatter(x, indices, out):
    i = uint32(cuda.grid(1))
    out[uint32(indices[i])] = x[i]


@cuda.jit
def dynamic_halves(x, out):
    """Two arrays in one piece of dynamic shared memory."""
    first = cuda.shared.array(0, types.float64)
    second = cuda.shared.array(0, types.int16)
    t, i = uint32(cuda.threadIdx.x), uint32(cuda.grid(1))
    first[t] = x[i]
    cuda.syncthreads()
    value = first[(t + uint32(32)) % uint32(BLOCK)]
    cuda.syncthreads()
    second[t * uint32(2)] = int32(i)
    cuda.syncthreads()
    out[i] = value + second[((t + uint32(32)) % uint32(BLOCK)) * uint32(2)]


@cuda.jit
def local_table(x, out):
    """Each thread fills a table of its own; its index is not known to the compiler."""
    own = cuda.local.array((4, 5), types.float32)
    i = uint32(cuda.grid(1))
    start = x[i]
    for k in range(20):
        own[k // 5, k % 5] = start + k
    out[i] = own[uint32(start) % uint32(4), i % uint32(5)]


@cuda.jit
def atomics_beside_loads(x, sums, out):
    i = uint32(cuda.grid(1))
    value = x[i]
    cuda.atomic.add(sums, i % uint32(8), value)
    out[i] = value + x[i + uint32(1)]


@cuda.jit
def shared_atomics(x, out):
    sums = cuda.shared.array(16, types.float64)
    t, i = uint32(cuda.threadIdx.x), uint32(cuda.grid(1))
    if t < 16:
        sums[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(sums, t % uint32(16), x[i])
    cuda.syncthreads()
    out[i] = sums[(t + uint32(1)) % uint32(16)]


@cuda.jit
def some_lanes(x, out):
    """Every third thread of blocks whose last warp is not full."""
    i = uint32(cuda.grid(1))
    if i % uint32(3) == 0 and i < out.size:
        out[i] = x[out.size - 1 - i]


def _numbers(dtype: str, size: int) -> np.ndarray:
    return (np.arange(size) % 100).astype(dtype)


def _strided(dtype: str, stride: int) -> CountedLaunch:
    size = THREADS * stride
    return CountedLaunch(
        f"strided_{dtype}_{stride}", strided(stride), GRID, BLOCK,
        lambda: (_numbers(dtype, size), np.zeros(size, dtype)),
    )  # fmt: skip


def _shared(dtype: str, stride: int) -> CountedLaunch:
    return CountedLaunch(
        f"shared_{dtype}_{stride}", shared_of(dtype, stride), GRID, BLOCK, lambda: _pair(dtype)
    )


def _transpose(dtype: str, pitch: int) -> CountedLaunch:
    square = _numbers(dtype, 32 * 32).reshape(32, 32)
    return CountedLaunch(
        f"transpose_{dtype}_{pitch}", transpose_of(dtype, pitch), (2, 2), (16, 16),
        lambda: (square, np.zeros_like(square)),
    )  # fmt: skip


def _pair(dtype: str) -> tuple:
    return _numbers(dtype, THREADS), np.zeros(THREADS, dtype)


def _gathered(kernel) -> CountedLaunch:
    order = np.random.default_rng(4).permutation(THREADS).astype(np.int32)
    name = kernel.py_func.__name__
    return CountedLaunch(
        name, kernel, GRID, BLOCK,
        lambda: (_numbers("float64", THREADS), order, np.zeros(THREADS)),
    )  # fmt: skip


def _of_kernel(kernel, arguments, shared_bytes: int = 0) -> CountedLaunch:
    name = kernel.py_func.__name__
    return CountedLaunch(name, kernel, GRID, BLOCK, arguments, shared_bytes)


def launches() -> list[CountedLaunch]:
    """Return all launches, in the order in which the profiler sees them."""
    strides = {
        "complex64": (1, 3), "complex128": (1, 2), "float16": (1, 5), "bool": (1, 7), "int8": (3,),
    }  # fmt: skip
    in_shared = {
        "complex64": (1, 2), "complex128": (1, 3), "float64": (1, 2, 16), "float16": (1, 2),
        "int8": (1, 4),
    }  # fmt: skip
    return [
        *(_strided(dtype, stride) for dtype, some in strides.items() for stride in some),
        *(_shared(dtype, stride) for dtype, some in in_shared.items() for stride in some),
        *(_transpose(dtype, pitch) for dtype in ("float64", "complex64") for pitch in (16, 17)),
        _of_kernel(record_field, lambda: (np.zeros(THREADS, PARTICLE), np.zeros(THREADS, "f4"))),
        _of_kernel(record_fields, lambda: (np.zeros(THREADS, PARTICLE), np.zeros(THREADS))),
        _of_kernel(record_array_field, lambda: (np.zeros(THREADS, CELL), np.zeros(THREADS, "f4"))),
        _of_kernel(record_in_shared, lambda: _pair("float64")),
        _gathered(gather),
        _gathered(scatter),
        _of_kernel(dynamic_halves, lambda: _pair("float64"), 8 * BLOCK),
        _of_kernel(local_table, lambda: _pair("float32")),
        _of_kernel(
            atomics_beside_loads,
            lambda: (np.ones(THREADS + 1, "i4"), np.zeros(8, "i4"), np.zeros(THREADS, "i4")),
        ),
        _of_kernel(shared_atomics, lambda: _pair("float64")),
        CountedLaunch("some_lanes", some_lanes, 4, 80, lambda: _pair("float32")),
    ]
