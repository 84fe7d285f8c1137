"""The right answers of the questions for a show of hands, computed.

`COMPUTED` has the name of a session and the number of the question -> a function that returns the
text of the right answer, or a number that equals this text.
"""

from collections.abc import Callable

import numpy as np
from numba import cuda, float32

from gemm_kernels import LADDER as GEMM
from gemm_kernels.cpu import LADDER as CPU
from gemm_kernels.cpu.engine.packing import pack_panels
from gemm_kernels.naive import naive
from latency_kernels.hiding import curves
from reduce_kernels import LADDER
from reduce_kernels.remainder import recorded_times
from utils import lessons as course
from utils.lessons.block_sums import issued_by_block
from utils.lessons.lesson_04 import transfers
from utils.machine.occupancy import best_block_size, occupancy
from virtual_gpu import counting_transfers, installed, trace

COMPUTED: dict[tuple[str, int], Callable[[], object]] = {}
H200 = (9, 0)  # compute capability


def answer(session: str, number: int) -> Callable:
    """Return a decorator that puts a function into `COMPUTED`."""

    def kept(function: Callable) -> Callable:
        COMPUTED[session, number] = function
        return function

    return kept


@cuda.jit
def _add_one(x, out):
    i = cuda.grid(1)
    out[i] = x[i] + float32(1)


@cuda.jit
def _every_second(x, out):
    i = cuda.grid(1)
    out[i] = x[2 * i]


@answer("00", 1)
def threads_without_an_element() -> int:
    """The threads of 40 blocks of 128 that leave an array of 5,000 elements."""
    arrays = np.zeros((2, 5000), np.float32)
    return trace(_add_one, -(-5000 // 128), 128, *arrays).findings[0].threads_in_all


@answer("00", 2)
def sectors_of_every_second_word() -> str:
    """Sectors of one request whose lanes read words 2 apart."""
    long, out = np.zeros(2048, np.float32), np.zeros(1024, np.float32)
    return f"{course.per_request(trace(_every_second, 4, 256, long, out), 'x'):g}"


@answer("01", 1)
def rate_of_a_product() -> str:
    """Two operations per multiply-add, 2 ms, and a giga of 10^9."""
    return f"{2 * 1000 * 2000 * 500 / 0.002 / 10**9:g} GFLOP/s"


@answer("01", 2)
def microseconds_on_the_clock_of_the_host() -> str:
    """The recorded time of `naive` at 256 with a wait before both readings of the clock."""
    return f"about {1000 * course.recorded_series('naive', 256, 'wall').time_ms:.0f} us"


@answer("02", 1)
def cache_lines_of_b_for_two_rows_of_a() -> int:
    """The order m, k, n with a cache of 32 cache lines."""
    seen = course.follow(CPU.step("loop_reordered"), "2x16x64")
    return course.cache_misses(seen, lines=32)["b"]


@answer("02", 2)
def times_faster_where_everything_fits() -> str:
    """Recorded times of both loop orders at 64."""
    before, after = (
        course.recorded_ms(CPU.step(name), "64") for name in ("naive", "loop_reordered")
    )
    return f"about {before / after:.1f} times"


@answer("03", 1)
def places_of_step_3_in_a_panel_of_two_rows() -> str:
    """The course's packing of 2 rows and 24 columns, whose elements are 100 row + step."""
    a = np.array([[100 * row + step for step in range(24)] for row in range(2)], np.float32)
    panels = np.zeros((1, 24, 2), np.float32)
    pack_panels(np.ascontiguousarray(a.T), panels)
    places = np.flatnonzero(panels.ravel() % 100 == 3)
    return " and ".join(map(str, places))


@answer("03", 2)
def share_that_six_sums_can_reach() -> str:
    """Six multiply-adds begin in the 4 cycles in which two units could begin 8."""
    sums, latency, units = 3 * 2, 4, 2
    return f"{100 * sums // (latency * units)} %"


def _a_in_the_launch(kernel, a, b):
    """A product whose launch gets `a` from the host, and the other arrays from the device."""
    m, n = a.shape[0], b.shape[1]
    on_gpu_b, on_gpu_c = cuda.to_device(b), cuda.device_array((m, n), np.float32)
    kernel[(-(-n // 32), -(-m // 8)), (32, 8)](a, on_gpu_b, on_gpu_c)
    return on_gpu_c.copy_to_host()


@answer("04", 1)
def copies_with_one_array_of_the_host() -> int:
    """The virtual GPU counts all copies of the function."""
    with installed(), counting_transfers() as log:
        _a_in_the_launch(naive, np.ones((48, 20), np.float32), np.ones((20, 80), np.float32))
    return len(log)


@answer("04", 2)
def times_faster_with_a_kernel_ten_times_as_fast() -> str:
    """The recorded product with its copies, whose kernel becomes ten times as fast."""
    whole = transfers.transfer_ms("product_with_copies", "WHAT=wall")
    kernel = transfers.transfer_ms("product_with_copies", "WHAT=kernel")
    return f"about {whole / (whole - kernel + kernel / 10):.1f} times"


@cuda.jit
def _lanes(x_of, y_of):
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    lane = y * cuda.blockDim.x + x
    if lane < x_of.size:
        x_of[lane], y_of[lane] = x, y


@answer("05", 1)
def thread_of_lane_20() -> str:
    """Which thread of a block of (16, 16) is lane 20 of its first warp."""
    x_of, y_of = np.zeros((2, 32), np.float32)
    trace(_lanes, 1, (16, 16), x_of, y_of)
    return f"x = {x_of[20]:g}, y = {y_of[20]:g}"


@answer("05", 2)
def sectors_of_b_in_a_block_of_8_by_32() -> str:
    """Sectors per request of b in `naive` with blocks of (8, 32)."""
    a, b, c = np.ones((3, 64, 64), np.float32)
    seen = trace(GEMM.step("naive").variant().kernel, (8, 2), (8, 32), a, b, c)
    return f"{course.per_request(seen, 'b'):g}"


@answer("06", 1)
def iterations_with_a_test_that_is_too_strict() -> int:
    """Count the iterations of both loops for k = 24."""
    k, i, iterations = 24, 0, 0
    while i < k - 4:
        i, iterations = i + 4, iterations + 1
    while i < k:
        i, iterations = i + 1, iterations + 1
    return iterations


@answer("06", 2)
def loads_per_multiply_add_unrolled() -> str:
    """Loads from global memory per multiply-add of `unrolled` by 4."""
    seen = course.watch(GEMM.step("unrolled").variant(UNROLL=4))
    return f"{course.loads_per_multiply_add(seen):g}"


@answer("07", 2)
def times_fewer_sectors() -> str:
    """Sectors of all loads from global memory, `naive` over `tiled` with tiles of 32."""
    before, now = (
        course.watch(GEMM.step(name)).totals["global_load_sectors"] for name in ("naive", "tiled")
    )
    return f"{before / now:g}"


@answer("07", 1)
def what_goes_wrong_where_threads_leave() -> str:
    """What the virtual GPU finds where threads without an element of c return at once."""
    start = "        total = float32(0)\n"
    leave = "        if row >= m or col >= n:\n            return\n"
    leaving = course.edited(GEMM.step("tiled").file, course.Edit(start, start + leave))
    found = course.watch(leaving.STEP, "40").findings[0]
    return {
        "uninitialised": "Other threads read words that nobody has loaded.",
        "barrier": "The other threads wait for ever at the barrier.",
        "out_of_bounds": "Some threads store outside of c.",
    }[found.kind]


@answer("08", 1)
def blocks_of_192_threads() -> int:
    """Blocks of 192 threads with 64 registers per thread that an SM of an H200 holds."""
    return occupancy(H200, threads=192, registers=64).blocks


@answer("08", 2)
def block_that_the_driver_suggests() -> int:
    """The suggestion for 40 registers and 8 bytes of shared memory per thread."""
    return best_block_size(H200, 40, shared_bytes=lambda threads: 8 * threads)


@answer("09", 1)
def workers_of_a_belt() -> int:
    """Little's law: 2 boxes per second, 6 seconds, and 3 boxes per worker."""
    rate, latency, each = 2, 6, 3
    return rate * latency // each


@answer("09", 2)
def times_faster_with_four_loads() -> str:
    """Recorded copies with 512 threads per SM: four loads under way over one."""
    frame = curves.recorded(curves.device_shown())
    one, four = (curves.share(frame, what, threads=512) for what in ("1 float", "4 float"))
    return f"about {four / one:.1f} times"


@answer("10", 1)
def loads_per_multiply_add_of_two_tiles() -> str:
    """Loads from global memory per multiply-add: tiles of 16×16, one of a and two of b."""
    seen = course.watch(GEMM.step("granularity").variant(GRAIN=2, TILE=16))
    return f"{course.loads_per_multiply_add(seen):g}"


@answer("10", 2)
def blocks_of_a_product_at_512() -> int:
    """Blocks of `granularity` with tiles of 32×32 and grain 4."""
    variant = GEMM.step("granularity").variant(GRAIN=4, TILE=32)
    return variant.launch(GEMM.parse("512")).blocks


@answer("18", 1)
def milliseconds_without_the_remainder() -> str:
    """The recorded time of 2^30 elements."""
    times = {row.kernel: row.time_ms for row in recorded_times() if row.elements == 2**30}
    return f"about {times['without_remainder']:.1f} ms"


@answer("18", 2)
def warps_that_issue_the_addition_of_the_seventh_step() -> int:
    """All warps of the block, unless its machine code has a jump over the addition."""
    reduce0 = LADDER.step("reduce0").variant(BLOCK=256)
    if issued_by_block(reduce0).at_most:
        seen = course.watch(reduce0, "1024", record=0)
        return course.loads_by_step(seen, "shared")[6].requests
    return 256 // 32
