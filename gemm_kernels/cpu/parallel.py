"""One rectangle of c per core, each computed with the widest micro-kernel."""

from functools import cache

from numba import config, float32, int32, njit, prange, types

from gemm_kernels.cpu.engine.blocks import memory_of, memory_of_thread
from gemm_kernels.cpu.engine.matrices import matrix, part, rows_of
from gemm_kernels.cpu.engine.rectangles import rectangles
from gemm_kernels.cpu.engine.widest import multiplication
from utils.ladder.step import Step
from utils.ladder.tasks import GEMM
from utils.machine.machine_code_cache import kept_on_disk

# numba.get_num_threads holds an address of its process, so its caller could not be kept on disk.
# Numba's loops declare the same function with this type; its result has 32 bits.
threads_now = types.ExternalFunction("get_num_threads", types.uintp())


@cache
def build():
    """Return the compiled function (a, b, c) that computes c = a·b on all of Numba's threads."""
    multiply, memory = multiplication(), memory_of(config.NUMBA_NUM_THREADS)

    @njit
    def rectangle(a, b, c, row, col, height, width, memory):
        x, y = rows_of(matrix(a), row, height), part(matrix(b), 0, col, b.shape[0], width)
        multiply(float32(1), x, y, float32(0), part(matrix(c), row, col, height, width), memory)

    # A rectangle of c per thread, and memory of its own to pack what it needs.
    # Flaw: the threads of a column of rectangles all pack the same part of b.
    @kept_on_disk
    @njit(parallel=True)
    def parallel(a, b, c):
        (m, n), threads = c.shape, int32(threads_now())
        across, height, width = rectangles(m, n, threads)
        for thread in prange(threads):
            row, col = thread // across * height, thread % across * width
            # No two threads write the same element.
            if row < m and col < n:
                rectangle(a, b, c, row, col, height, width, memory_of_thread(memory(), thread))

    return parallel


STEP = Step(
    module=__name__,
    name="parallel",
    idea="one rectangle of c for each core",
    previous="micro_kernel_avx512",
    task=GEMM,
    build=build,
)
