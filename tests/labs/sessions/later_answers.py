"""The right answers of the plans for lessons 11 to 17, 19 to 23 and the extra one, computed.

This file adds its functions to `COMPUTED` of answers.py when it is imported.
"""

import numpy as np
from numba import cuda

from gemm_kernels import LADDER as GEMM
from gemm_kernels import buffers_alone, ilp_alone
from gemm_kernels.parts.lane_maps import zig_zag
from labs.exercises.attainable.solution import attainable
from labs.exercises.issue_bound.solution import issue_bound
from labs.exercises.lane_of.solution import lane_of
from labs.exercises.ldmatrix_wavefronts.formula import right as ldmatrix_wavefronts
from labs.exercises.one_mma.solution import one_mma
from labs.exercises.paired_reads.solution import paired_reads
from labs.exercises.row_gap import solution as row_gap
from labs.exercises.slices.solution import slices
from labs.exercises.waiting_blocks.solution import waiting_blocks
from labs.exercises.whole_warp.solution import whole_warp
from reduce_kernels import LADDER as REDUCE
from tensor_kernels.parts.swizzles import swizzle
from tests.labs.sessions.answers import answer
from utils import lessons as course
from utils.intrinsics.wide_memory import load4, store4
from utils.lessons.block_sums import block_of
from utils.lessons.lesson_11 import time_bars
from utils.lessons.lesson_16.reading_machine_code import listed_rows
from utils.lessons.lesson_21.counted_steps import ceilings
from utils.lessons.lesson_22 import limits, rounding
from utils.lessons.lesson_lane_maps.lane_maps import wavefronts_of
from utils.machine.occupancy import occupancy
from virtual_gpu import trace


@answer("11", 1)
def words_of_four_rows() -> str:
    """In one step a thread reads four words of a and one of b, for four multiply-adds."""
    seen = course.watch(GEMM.step("ilp").variant(GRAIN=4), "64x64x64")
    return f"{course.loads_per_multiply_add(seen, 'shared'):.2f}"


@answer("11", 2)
def most_that_hidden_latency_gives() -> str:
    """The recorded time of `tiled`, divided by the time of its wavefronts alone."""
    tiled = GEMM.step("tiled").variant(TILE=32)
    times = time_bars.times_of(tiled, ilp_alone.recorded_times())
    return f"{times.recorded / times.wavefronts:.2f} times"


@answer("12", 1)
def words_of_eight_by_four() -> str:
    """In one step a thread tile of 8×4 needs 12 words for 32 multiply-adds."""
    seen = course.watch(GEMM.step("register_blocked").variant(TM=8, TN=4), "64x128x64")
    return f"{course.loads_per_multiply_add(seen, 'shared'):.3f}"


@answer("12", 2)
def wavefronts_of_a_read_of_a() -> str:
    """Four rows of threads want four words of one bank."""
    blocked = GEMM.step("register_blocked").variant(BM=64, BN=64, TM=8, TN=8)
    return f"{course.per_request(course.watch(blocked, '64x64x64'), 'sa', 'wavefronts'):.0f}"


@cuda.jit
def copy_fours(x, out):
    i = cuda.grid(1) * 4
    if i < x.size:
        store4(out, i, load4(x, i))


@answer("13", 1)
def sectors_of_a_wide_load() -> str:
    """32 lanes load 128 neighbouring floats with one request."""
    copied = trace(copy_fours, 1, 32, *np.zeros((2, 128), np.float32))
    return f"{course.per_request(copied, 'x'):.0f}"


@answer("13", 2)
def row_without_conflict() -> str:
    """The only one of the four lengths with which a store takes one wavefront."""
    return ", ".join(str(words) for words in (129, 132, 136, 160) if _wavefronts(words) == 1)


def _wavefronts(words: int) -> float:
    """Return the wavefronts of a store into a tile whose rows have a number of words."""
    kernel = course.edited(row_gap, course.Edit("(8, 132)", f"(8, {words})")).row_gap
    turned = trace(kernel, 1, 256, np.zeros((128, 8), "f"), np.zeros((8, 128), "f"))
    return course.per_request(turned, "tile", "wavefronts", "store")


@answer("14", 1)
def saved_by_the_second_buffer() -> str:
    """The recorded times of lesson 14's experiment, at 4096 on an H200."""
    rows = {row.kernel: row for row in buffers_alone.recorded_times() if row.n == 4096}
    return f"{rows['neither'].time_ms - rows['second_buffer'].time_ms:.2f} ms"


@answer("14", 2)
def blocks_with_two_buffers() -> str:
    """An SM of an H200, and the resources of `double_buffered` with tiles of 128×128×8."""
    return str(occupancy((9, 0), 256, 120, 16_640).blocks)


@answer("15", 1)
def quad_of_lane_19() -> str:
    """The row and the column of the quad, in quads."""
    return str(zig_zag.py_func(19))


@answer("15", 2)
def time_with_the_zig_zag() -> str:
    """The recorded times at 4096 of an H200."""
    rows, zig_zags = (
        course.recorded_ms(GEMM.step("warp_tiled").variant(LANES=lanes, BK=8)) for lanes in (0, 3)
    )
    return f"{100 * (zig_zags / rows - 1):.0f} % longer"


@answer("16", 1)
def bound_on_a_t4() -> str:
    """A multiply-add of a warp keeps 16 lanes busy for two cycles."""
    return f"{issue_bound(50, 10, 16):.0f} %"


@answer("16", 2)
def instructions_for_a_multiply_add() -> str:
    """The opcodes of the line that adds which `naive` does not have, in the order of the sum."""
    known = {_name(row) for row in listed_rows("naive")}
    rows = [row for row in listed_rows("single_precision starter") if "total +=" in row.line]
    first, second, third = sorted({_name(row) for row in rows} - known, key=_SUM.index)
    return f"`{first}`, `{second}` and `{third}`"


_SUM = ("FMUL", "F2F", "DADD")  # the product, its conversion, and the sum


def _name(row) -> str:
    return row.instruction.opcode.partition(".")[0]


@answer("17", 1)
def slices_of_35_tiles() -> str:
    """132 SMs, one block on each, and 1060 steps along k."""
    return str(slices(35, 132, 1060))


@answer("17", 2)
def row_major_arrays_for_a_column_major_library() -> str:
    """What the library's memory holds, read by rows again."""
    a, b = np.random.default_rng(17).integers(-9, 9, (2, 3, 3))
    product = a.ravel().reshape(3, 3, order="F") @ b.ravel().reshape(3, 3, order="F")
    c = product.ravel(order="F").reshape(3, 3)
    answers = {"a·b": a @ b, "b·a": b @ a, "(a·b)ᵀ": (a @ b).T, "(b·a)ᵀ": (b @ a).T}
    return ", ".join(name for name, value in answers.items() if (c == value).all())


@answer("19", 1)
def barriers_of_reduce4() -> str:
    """Barriers of the block that a thread of 512 reaches."""
    return f"{block_of(REDUCE.step('reduce4').variant(BLOCK=512)).barriers:.0f}"


@cuda.jit
def from_above(x, out):
    lane = cuda.threadIdx.x
    out[lane] = cuda.shfl_down_sync(0xFFFFFFFF, x[lane], 4)


@answer("19", 2)
def what_lane_30_gets() -> str:
    """Lane 34 does not exist, so the lane keeps its own number."""
    out = np.zeros(32, np.float32)
    trace(from_above, 1, 32, np.arange(32, dtype=np.float32), out)
    return f"{out[30]:.0f}"


@answer("20", 1)
def blocks_that_may_wait() -> str:
    """30 blocks, and 10 SMs with two slots each."""
    return str(waiting_blocks(30, 10, 2))


@answer("20", 2)
def three_ones_added_one_by_one() -> str:
    """The sum begins with 2^24, and float32 rounds it after each addition."""
    total = np.float32(2**24)
    for _ in range(3):
        total += np.float32(1)
    return f"{total:,.0f}"


@answer("21", 1)
def attainable_with_tiles_of_32() -> str:
    """The peak and the DRAM bandwidth that the micro-benchmarks of an H200 reached."""
    return f"{attainable(32, 32, 65_108, 4_294):,.0f} GFLOP/s"


@answer("21", 2)
def smallest_sum_of_matrices_right_of_the_ridge() -> str:
    """The intensity of c = a + b is n² operations for 12·n² bytes, whatever n is."""
    ridge = ceilings().gflops / ceilings().gb_per_s["DRAM"]
    found = [n for n in range(1, 10_000) if n**2 / (12 * n**2) > ridge]
    return str(found[0]) if found else "at none"


@answer("22", 1)
def lane_of_an_element() -> str:
    """Element (14, 5) of a."""
    return str(lane_of(14, 5))


@answer("22", 2)
def steps_of_three_halves() -> str:
    """1 and three times 2^-24, added by one mma."""
    a, b = np.zeros((16, 8), np.float16), np.zeros((8, 8), np.float16)
    a[0, :4], b[:4, 0] = [1] + 3 * [2.0**-12], [1] + 3 * [2.0**-12]
    c = np.zeros((16, 8), np.float32)
    trace(one_mma, 1, 32, a, b, c)
    return f"{(float(c[0, 0]) - 1) / rounding.UNIT:g}"


@answer("22_second", 1)
def mma_of_a_product_with_edges() -> str:
    """35×44 elements by 44×20, with one warp per 16×8 of c."""
    a, b = np.ones((35, 44), np.float16), np.ones((44, 20), np.float16)
    c = np.zeros((35, 20), np.float32)
    return str(trace(whole_warp, (3, 3), 32, a, b, c).totals["mma"])


@answer("22_second", 2)
def lines_of_four_tiles_beside_each_other() -> str:
    """The fragment of a is loaded once for four mma, and each has its own fragment of b."""
    loads = limits.seen().accesses.query("kind == 'load'").groupby("array")["cache_lines"].sum()
    mma = limits.seen().totals["mma"]
    return f"{(loads['a'] / 4 + loads['b']) / mma:.0f}"


@answer("23", 1)
def wavefronts_of_a_row_that_is_padded() -> str:
    """Rows of 64 + 8 elements, four parts."""
    return str(4 * ldmatrix_wavefronts(64 + 8))


@answer("23", 2)
def column_of_a_swizzled_chunk() -> str:
    """Row 5 and column 24 of a tile with rows of 64 elements."""
    return str(swizzle(64).py_func(5, 24))


@answer("lane_maps", 1)
def wavefronts_of_four_lanes_per_quad() -> str:
    """Lanes 0 to 3 read quad 0, lanes 4 to 7 quad 1, and so on."""
    seen = trace(paired_reads, 1, 32, *np.zeros((2, 32), np.float32))
    return f"{course.per_request(seen, 'tile', 'wavefronts'):.0f}"


@answer("lane_maps", 2)
def wavefronts_column_by_column() -> str:
    """Lane n has the patch in row n % 4 and column n // 4."""
    needed = [one.array for one in wavefronts_of(lambda lane: (lane % 4, lane // 4))]
    return f"{needed.count('a')} for `a`, {needed.count('b')} for `b`"
