"""Launches whose memory traffic is counted twice: by the virtual GPU and by a real profiler.

Each is one kernel, launched once. ``LAUNCHES`` is their order; ``python -m
virtual_gpu.tests.kernels.counted`` launches all of them on this machine's CUDA device, which is
what the profiler is started over.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import cuda, float32, int32, uint32

from utils.intrinsics.wide_memory import load2, load4, store2, store4

from . import counted_types
from .counted_launch import CountedLaunch

WARPS = 8
THREADS = 32 * WARPS
BINS = 32


@cache
def strided_copy(stride, offset):
    """Every thread copies one element; neighbours lie ``stride`` elements apart."""

    @cuda.jit
    def kernel(x, out):
        i = uint32(cuda.grid(1))
        out[i] = x[i * uint32(stride) + uint32(offset)]

    return kernel


def _copy(stride: int, offset: int = 0, dtype=np.float32, block: int = 128) -> CountedLaunch:
    name = f"copy_stride_{stride}_offset_{offset}_{np.dtype(dtype).name}_block_{block}"
    grid = 5
    size = grid * block * stride + offset
    return CountedLaunch(
        name,
        strided_copy(stride, offset),
        grid,
        block,
        lambda: (np.arange(size).astype(dtype), np.zeros(grid * block, dtype)),
    )


@cache
def transpose(pitch):
    """A tile of 32×32 goes through shared memory, whose rows are ``pitch`` words long."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array((32, pitch), float32)
        tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
        column, row = uint32(cuda.blockIdx.x) * uint32(32), uint32(cuda.blockIdx.y) * uint32(32)
        tile[ty, tx] = x[row + ty, column + tx]
        cuda.syncthreads()
        out[column + ty, row + tx] = tile[tx, ty]

    return kernel


@cuda.jit
def transpose_direct(x, out):
    column, row = cuda.grid(2)
    out[uint32(column), uint32(row)] = x[uint32(row), uint32(column)]


@cuda.jit
def shared_histogram(x, bins):
    counts = cuda.shared.array(BINS, int32)
    i = uint32(cuda.threadIdx.x)
    if i < BINS:
        counts[i] = 0
    cuda.syncthreads()
    cuda.atomic.add(counts, x[uint32(cuda.grid(1))], 1)
    cuda.syncthreads()
    if i < BINS:
        cuda.atomic.add(bins, i, counts[i])


@cuda.jit
def divergent(x, out):
    i = uint32(cuda.grid(1))
    lane = i & uint32(31)
    if lane < 7:
        out[i] = x[i]
    elif lane % 2 == 0:
        out[i] = x[i + 64]
    if i % 96 == 5:
        out[i + 1024] = x[i]


@cuda.jit
def one_for_all(x, out):
    i = uint32(cuda.grid(1))
    out[i] = x[uint32(cuda.blockIdx.x)] + x[uint32(32) + (i & uint32(3))]


@cache
def shared_stride(stride):
    """Lanes store and load shared words ``stride`` apart."""
    size = 256 * stride

    @cuda.jit
    def kernel(out, start):
        words = cuda.shared.array(size, float32)
        i = uint32(cuda.threadIdx.x)
        words[i * uint32(stride)] = start
        cuda.syncthreads()
        # The barrier and the exchanged half keep the compiler from passing the value on.
        out[uint32(cuda.grid(1))] = words[(i ^ uint32(32)) * uint32(stride)]

    return kernel


@cuda.jit
def early_leavers(x, out):
    i = uint32(cuda.grid(1))
    if i % 3 == 1:
        return
    if i < x.size:
        out[i] = x[i]


@cuda.jit
def copy_pairs(x, out):
    i = uint32(cuda.grid(1)) * uint32(2)
    store2(out, i, load2(x, i))


@cuda.jit
def copy_fours(x, out):
    i = uint32(cuda.grid(1)) * uint32(4)
    if i < x.size:
        store4(out, i, load4(x, i))


@cache
def fours_through_shared(row):
    """Each thread stores four words to a row of ``row`` words and loads another thread's."""

    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array((128, row), float32, alignment=16)
        t = uint32(cuda.threadIdx.x)
        store4(tile, (t, 0), load4(x, t * uint32(4)))
        cuda.syncthreads()
        store4(out, t * uint32(4), load4(tile, (t ^ uint32(33), 0)))

    return kernel


def _vectors(size: int) -> tuple:
    return np.arange(size, dtype=np.float32), np.zeros(size, np.float32)


def _square(n: int) -> np.ndarray:
    return np.arange(n * n, dtype=np.float32).reshape(n, n)


def _of_the_ladders() -> list[CountedLaunch]:
    """Return the steps of the ladders, each at a small shape."""
    import gemm_kernels
    import latency_kernels
    import reduce_kernels
    from utils.ladder.shapes import GemmShape, ReduceShape

    shapes = {
        gemm_kernels.LADDER: GemmShape(96, 64, 80),
        reduce_kernels.LADDER: ReduceShape(5000),
        latency_kernels.LADDER: ReduceShape(10007),
    }
    return [
        of_step(variant, shape)
        for ladder, shape in shapes.items()
        for step in ladder.steps
        # Where arrays lie changes no access; a grid that follows from the number of SMs is another
        # one on every device.
        if step.place is None and step.name != "split_k"
        for variant in (step.variants() if step.name in SWEPT else [step.variant()])
        # Smaller blocks and longer tiles bring no access that these do not have.
        if variant.constants.get("BLOCK", 128) >= 128
        and (step.name != "warp_tiled" or variant.constants["BK"] == 8)
    ]


def of_step(variant, shape) -> CountedLaunch:
    """Return the launch of the main kernel of a step at a small shape."""
    from utils.ladder.memory import untouched

    problem = variant.step.task.problem(shape, "uniform")

    def call():
        out = np.zeros(problem.reference.shape, np.float32)
        return variant.main_call(shape, problem.inputs, out, untouched)

    name = "_".join([variant.step.name, *map(str, variant.constants.values())])
    kernel, launch = variant.kernel, variant.launch(shape)
    return CountedLaunch(
        name, kernel, launch.grid, launch.block, lambda: call().arguments, launch.shared_bytes
    )


# Steps of which every choice is counted; of the others the first one.
SWEPT = ("naive", "tiled", "warp_tiled", "reduce0", "copy")


def launches() -> list[CountedLaunch]:
    """Return all launches, in the order in which the profiler sees them."""
    rng = np.random.default_rng(11)
    numbers = rng.integers(0, BINS, 4 * THREADS).astype(np.int32)
    pair = (_square(64), np.zeros((64, 64), np.float32))
    tiles = ((2, 2), (32, 32))
    return [
        *(_copy(stride) for stride in (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32)),
        *(_copy(1, offset) for offset in (1, 4, 8, 9, 31)),
        *(_copy(1, dtype=dtype) for dtype in (np.int8, np.int16, np.float64)),
        *(_copy(3, dtype=dtype) for dtype in (np.int8, np.int16, np.float64)),
        *(_copy(1, block=block) for block in (16, 48, 100)),
        CountedLaunch("transpose_direct", transpose_direct, (2, 8), (32, 8), lambda: pair),
        CountedLaunch("transpose_shared", transpose(32), *tiles, lambda: pair),
        CountedLaunch("transpose_padded", transpose(33), *tiles, lambda: pair),
        *(
            CountedLaunch(
                f"shared_stride_{stride}", shared_stride(stride), 2, 256,
                lambda: (np.zeros(512, np.float32), np.float32(2)),
            )
            for stride in (1, 2, 3, 4, 8, 16, 32)
        ),
        CountedLaunch(
            "shared_histogram", shared_histogram, 4, THREADS,
            lambda: (numbers, np.zeros(BINS, np.int32)),
        ),
        CountedLaunch(
            "divergent", divergent, 3, 128,
            lambda: (np.arange(2048, dtype=np.float32), np.zeros(2048, np.float32)),
        ),
        CountedLaunch(
            "one_for_all", one_for_all, 4, 128,
            lambda: (np.arange(64, dtype=np.float32), np.zeros(512, np.float32)),
        ),
        CountedLaunch(
            "early_leavers", early_leavers, 4, 100,
            lambda: (np.arange(390, dtype=np.float32), np.zeros(400, np.float32)),
        ),
        CountedLaunch("copy_float2", copy_pairs, 3, 96, lambda: _vectors(2 * 288)),
        CountedLaunch("copy_float4", copy_fours, 3, 96, lambda: _vectors(4 * 288)),
        CountedLaunch("copy_float4_partly", copy_fours, 3, 96, lambda: _vectors(4 * 201)),
        *(
            CountedLaunch(
                f"shared_float4_row_{row}", fours_through_shared(row), 1, 128, lambda: _vectors(512)
            )
            for row in (4, 8, 12, 20)
        ),
        *_of_the_ladders(),
        *counted_types.launches(),
    ]  # fmt: skip


def main() -> None:
    """Launch everything once on this machine's CUDA device."""
    for launch in launches():
        arguments = [
            cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in launch.arguments()
        ]
        # The profiler looks at this alone: libraries launch kernels, too, for a reference.
        with cuda.profiling():
            launch.kernel[launch.grid, launch.block, 0, launch.shared_bytes](*arguments)
            cuda.synchronize()
        print(launch.name, flush=True)


if __name__ == "__main__":
    main()
