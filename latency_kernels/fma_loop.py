"""The ceiling of arithmetic: multiply-adds between registers, and no memory access in the loop."""

from functools import cache

from numba import cuda, float32, uint32

from latency_kernels.parts.outer_products import ORDERS
from latency_kernels.parts.workloads import FMA, ITERATIONS, PATCH
from utils.division import cdiv
from utils.ladder.step import Budget, Launch, Step

BLOCK = 128
UNROLL = 2


@cache
def build(ORDER=1):
    """Return the kernel (x, out) whose threads repeat the multiply-adds of an 8×8 outer product.

    A thread stores the total of its 64 sums in out[thread]. ORDER is the order of the
    multiply-adds: 0 is row by row, 1 back and forth, and 2 a spiral.
    """
    add_outer_product = ORDERS[ORDER](PATCH)

    @cuda.jit
    def fma_loop(x, out):
        thread = cuda.grid(1)
        # The index depends on the lane. If it were the same for all threads, the compiler would
        # keep the values in uniform registers and move them around; and with a constant it would
        # compute in advance.
        lane = uint32(cuda.threadIdx.x) & uint32(31)
        a = cuda.local.array(PATCH, float32)
        b = cuda.local.array(PATCH, float32)
        patch = cuda.local.array((PATCH, PATCH), float32)
        for i in range(PATCH):
            a[i] = x[lane + i]
        for i in range(PATCH):
            b[i] = x[lane + PATCH + i]
            for j in range(PATCH):
                patch[i, j] = float32(0)

        # All three arrays are in registers now, because every index is known when the loops unroll.
        # The 64 multiply-adds are independent, and 16 operands serve all of them. They are
        # cuda.fma, because a[i] * b[j] never changes: written as a product, it would be computed
        # once before the loop, and only additions would be left.
        turn = 0
        while turn < ITERATIONS:
            for _ in range(UNROLL):
                add_outer_product(a, b, patch)
            turn += UNROLL

        # The compiler removes work whose result is not stored, so all of it goes into one number.
        total = float32(0)
        for i in range(PATCH):
            for j in range(PATCH):
                total += patch[i, j]
        if thread < out.size:
            out[thread] = total

    return fma_loop


def launch(shape, ORDER):
    """Return a launch with one thread per 64 accumulators; `shape.elements` counts accumulators.

    The grid has one axis. ORDER has no influence on it.
    """
    return Launch(grid=(cdiv(shape.elements, PATCH**2 * BLOCK),), block=(BLOCK,))


STEP = Step(
    module=__name__,
    name="fma_loop",
    idea="8×8 outer products in registers: the FP32 rate that this device reaches",
    previous=None,
    task=FMA,
    build=build,
    launch=launch,
    # Back and forth, row by row, in a spiral.
    choices={"ORDER": (1, 0, 2)},
    budget=Budget(registers=96, global_bits=32, ffma_share=0.9),
)
