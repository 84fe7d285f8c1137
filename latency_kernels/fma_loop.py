"""The ceiling of arithmetic: multiply-adds between registers, and no memory in the loop."""

from numba import cuda, float32, uint32

from latency_kernels.parts.workloads import FMA, ITERATIONS, PATCH
from utils.ladder.step import Budget, Launch, Step

BLOCK = 128
UNROLL = 2


@cuda.jit
def fma_loop(x, out):
    thread = cuda.grid(1)
    # The lane decides what is read. Were it the same for all threads, the compiler would keep it
    # in the uniform registers and move it about; and a constant would be computed in advance.
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

    # All three arrays live in registers now: every index below is known when the loops unroll.
    # 64 multiply-adds wait for none of the others, and 16 operands serve all of them.
    turn = 0
    while turn < ITERATIONS:
        for _ in range(UNROLL):
            for i in range(PATCH):
                for column in range(PATCH):
                    # Back and forth, so that each multiply-add shares an operand with the one
                    # before it. The operand is then at hand, and the two banks of the register
                    # file deliver the other two; three at once would cost a second cycle.
                    j = column if i % 2 == 0 else PATCH - 1 - column
                    # cuda.fma, because a[i] * b[j] never changes: written as a product, it would
                    # be computed once before the loop, and only additions would be left.
                    patch[i, j] = cuda.fma(a[i], b[j], patch[i, j])
        turn += UNROLL

    # Work whose result nobody sees is removed, so all of it goes into one number.
    total = float32(0)
    for i in range(PATCH):
        for j in range(PATCH):
            total += patch[i, j]
    if thread < out.size:
        out[thread] = total


def launch(shape):
    """One thread for 64 accumulators; shape.elements counts the accumulators."""
    return Launch(grid=(-(-shape.elements // (PATCH**2 * BLOCK)),), block=(BLOCK,))


STEP = Step(
    module=__name__,
    name="fma_loop",
    idea="8×8 outer products in registers: the FP32 rate that this device reaches",
    previous=None,
    task=FMA,
    build=lambda: fma_loop,
    launch=launch,
    budget=Budget(registers=88, global_bits=32, ffma_share=0.9),
)
