"""`python -m gemm_kernels buffers-alone`: time early loads and a second buffer, each alone.

The four kernels have the tiles and the small loop of `double_buffered`, and are made of the same
parts. `neither` loads a tile after the multiplication of the one before, into one buffer, with two
barriers per tile. `early_loads` begins to load before the multiplication. `second_buffer` has a
second buffer, and so one barrier per tile, but loads late. `both` is `double_buffered` once more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial

from numba import cuda, float32, uint32

from gemm_kernels import LADDER, register_blocked
from gemm_kernels.parts.blocks import (
    check_wide,
    clear,
    fetch,
    outer_product,
    put_columns,
    put_rows,
    read_fragment,
    store_tile,
)
from utils.ladder.shapes import GemmShape
from utils.ladder.step import Launch, Step, Variant
from utils.ladder.tasks import GEMM
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import ProductTime, time_products

SIZES = (2048, 4096)
VERIFIED = (GemmShape(36, 36, 44), GemmShape(132, 260, 160))
SIDE, DEPTH, EACH = 128, 8, 8  # of a block's tile of c, of a tile along k, of a thread's part of c
ACROSS = SIDE // EACH
THREADS = ACROSS**2
LOADS = SIDE * DEPTH // 4 // THREADS
QUADS_A, QUADS_B = DEPTH // 4, SIDE // 4
PADDED = SIDE + 4
# Name -> (whether the next tile is loaded before this one is multiplied, the number of buffers).
CHANGES = {
    "neither": (False, 1),
    "early_loads": (True, 1),
    "second_buffer": (False, 2),
    "both": (True, 2),
}


@cache
def build(name: str):
    """Return the kernel (a, b, c) called `name`, which computes c = a·b.

    `name` is a key of `CHANGES`. The kernel has 128×128 of c per block and 8×8 per thread.
    """
    EARLY, BUFFERS = CHANGES[name]
    add_outer_product = outer_product(EACH, EACH)

    def product(a, b, c):
        k = a.shape[1]
        sa = cuda.shared.array((BUFFERS, DEPTH, PADDED), float32, alignment=16)
        sb = cuda.shared.array((BUFFERS, DEPTH, SIDE), float32, alignment=16)
        sums = cuda.local.array((EACH, EACH), float32)
        next_a = cuda.local.array((LOADS, 4), float32)
        next_b = cuda.local.array((LOADS, 4), float32)
        from_a = cuda.local.array(EACH, float32)
        from_b = cuda.local.array(EACH, float32)
        t = uint32(cuda.threadIdx.x)
        me = t, THREADS
        row, col = uint32(cuda.blockIdx.y * SIDE), uint32(cuda.blockIdx.x * SIDE)
        y, x = t // ACROSS * EACH, t % ACROSS * EACH

        clear(sums)
        start, buffer = uint32(0), uint32(0)
        fetch(a, (row, start), QUADS_A, me, next_a)
        fetch(b, (start, col), QUADS_B, me, next_b)
        put_columns(sa, buffer, QUADS_A, me, next_a)
        put_rows(sb, buffer, QUADS_B, me, next_b)
        cuda.syncthreads()

        while start < uint32(k):
            start = uint32(start + DEPTH)
            if EARLY:
                fetch(a, (row, start), QUADS_A, me, next_a)
                fetch(b, (start, col), QUADS_B, me, next_b)
            z = uint32(0)
            while z < DEPTH:
                for u in range(2):  # as in double_buffered
                    read_fragment(sa, (buffer, z + u), y, 4, from_a)
                    read_fragment(sb, (buffer, z + u), x, 4, from_b)
                    add_outer_product(sums, from_a, from_b)
                z = uint32(z + 2)
            if BUFFERS == 1:
                cuda.syncthreads()  # all threads are done with the one buffer
            else:
                buffer ^= uint32(1)
            if not EARLY:
                fetch(a, (row, start), QUADS_A, me, next_a)
                fetch(b, (start, col), QUADS_B, me, next_b)
            put_columns(sa, buffer, QUADS_A, me, next_a)
            put_rows(sb, buffer, QUADS_B, me, next_b)
            cuda.syncthreads()

        store_tile(c, (row + y, col + x), (4, 4), sums)

    product.__name__ = product.__qualname__ = name
    return cuda.jit(product)


@cache
def variants() -> tuple[Variant, ...]:
    """Return `vectorized`, the kernels of `CHANGES` and `double_buffered`, in the order of timing.

    All have the same sizes of tiles.
    """
    constants = {"BM": SIDE, "BN": SIDE, "BK": DEPTH, "TM": EACH, "TN": EACH}
    return (
        LADDER.step("vectorized").variant(**constants),
        *map(_variant, CHANGES),
        LADDER.step("double_buffered").variant(**constants),
    )


def recorded_times() -> tuple[ProductTime, ...]:
    """Return the times of all devices that have a record, device by device; () if none has one."""
    return EXPERIMENT.recorded()


def measured(device: str, sizes: Sequence[int] = SIZES) -> Iterator[ProductTime]:
    """Yield a ProductTime per kernel for each size, the kernels in the order of `variants`.

    All kernels of a size come one after the other, and their repetitions are interleaved. `device`
    is the name for the rows, and `sizes` are the values of n. Raises CourseError if a kernel's
    product is wrong.
    """
    return time_products(LADDER, variants(), device, sizes, VERIFIED)


def _variant(name: str) -> Variant:
    """Return the kernel called `name`, a key of `CHANGES`, as a variant without constants."""
    step = Step(
        module=__name__,
        name=name,
        idea="double_buffered with some of its changes",
        previous="vectorized",
        task=GEMM,
        build=partial(build, name),
        launch=_launch,
    )
    return step.variant()


def _launch(shape: GemmShape) -> Launch:
    """Return a launch with one block of 256 threads per 128×128 tile of c, x along n, y along m.

    Raises CourseError unless n and k are multiples of 4.
    """
    check_wide("buffers_alone", shape)
    return register_blocked.launch(shape, SIDE, SIDE, EACH, EACH)


EXPERIMENT = Experiment(
    name="buffers-alone",
    help="time early loads, a second buffer, and both",
    row=ProductTime,
    size="n",
    measured=measured,
)
COMMAND = EXPERIMENT.command()
