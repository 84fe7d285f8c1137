"""The right answers of the plans for second sittings, computed.

This file adds its functions to `COMPUTED` of answers.py when it is imported.
"""

import numpy as np
from numba import cuda, float32

from gemm_kernels import LADDER as GEMM
from gemm_kernels import wide_alone
from gemm_kernels.cpu.engine.packing import pack_panels
from gemm_kernels.parts.blocks import check_wide
from labs.exercises.busy_share.solution import busy_share
from labs.exercises.call_by_rows.solution import call_by_rows
from labs.exercises.order_rows.solution import order_rows
from labs.exercises.pad_to_fours.solution import pad_to_fours
from labs.exercises.pipe_roof.solution import pipe_roof
from labs.exercises.row_length import solution as row_length
from labs.exercises.shared_cost.solution import shared_cost
from labs.exercises.shared_for.solution import shared_for
from labs.exercises.sliced_time.solution import sliced_time
from labs.exercises.ticket import solution as ticket
from labs.exercises.tiles_ahead.solution import tiles_ahead
from latency_kernels.hiding import curves
from reduce_kernels import LADDER as REDUCE
from reduce_kernels.remainder import recorded_times
from tests.labs.sessions.answers import answer
from utils import lessons as course
from utils.errors import CourseError
from utils.lessons import load_waits, tile_iterations
from utils.lessons.compiled_loops import listing
from utils.lessons.lesson_02 import cache_sets
from utils.lessons.lesson_04 import transfers
from utils.lessons.lesson_08 import fewer_warps
from utils.lessons.lesson_13.step_wavefronts import recorded_ms
from utils.lessons.lesson_16.reading_machine_code import listed_rows
from utils.machine.occupancy import occupancy
from virtual_gpu import trace


@answer("02_second", 1)
def cache_lines_with_room() -> int:
    """A column of 1024 rows of 1040 words, in an L1 with 64 sets of 12 cache lines."""
    return cache_sets.room(1040, 1024)


@answer("02_second", 2)
def share_without_fma_and_half_the_width() -> str:
    """Two instructions for each multiply-add, and vectors of 8 where the peak has 16."""
    instructions, width, widest = 2, 8, 16
    return f"{100 * width / widest / instructions:.0f} %"


@answer("03_second", 1)
def place_in_the_panels() -> str:
    """The element in row 1 and column 9 of a matrix of 4×16, in panels of 8 columns."""
    b, panels = np.arange(64, dtype=np.float32).reshape(4, 16), np.zeros((2, 4, 8), np.float32)
    pack_panels(b, panels)
    return str(np.flatnonzero(panels.ravel() == b[1, 9])[0])


@answer("03_second", 2)
def registers_of_eight_by_48() -> int:
    """The sums of 8 rows of 3 vectors, the 3 vectors of b, and one for the elements of a."""
    rows, vectors = 8, 48 // 16
    return rows * vectors + vectors + 1


@answer("04_second", 1)
def milliseconds_in_four_slices() -> str:
    """The copy of b, the stages of one slice, and three more slices of the slowest stage."""
    return f"{sliced_time(1, 4, 8, 2, 4):g} ms"


@answer("04_second", 2)
def milliseconds_of_the_second_launch() -> str:
    """The recorded kernel on managed arrays whose pages are on the device already."""
    return f"about {transfers.transfer_ms('product_managed', 'WHAT=kernel TOUCH=second'):.1f} ms"


@answer("05_second", 1)
def loads_per_multiply_add_of_four_rows() -> str:
    """In one iteration a thread loads one word of b and four of a."""
    a, b, c = np.ones((3, 32, 32), np.float32)
    seen = trace(order_rows, (1, 1), (32, 8), a, b, c)
    return f"{course.loads_per_multiply_add(seen):g}"


@answer("05_second", 2)
def sectors_of_b_with_four_adjacent_columns() -> str:
    """The lanes read words that are 4 apart."""
    seen = course.watch(GEMM.step("multi_output").variant(MULTI=4, APART=1))
    return f"{course.per_request(seen, 'b'):g}"


@cuda.jit
def _down_a_column(out):
    tile = cuda.shared.array((32, 36), float32)
    lane = cuda.threadIdx.x
    tile[lane, 0] = float32(1)
    cuda.syncwarp()
    out[lane] = tile[lane, 0]


@answer("06_second", 1)
def waits_of_a_loop_with_late_loads() -> int:
    """The waits in one iteration of `unrolled` with one term per iteration, by its machine code."""
    variant = GEMM.step("unrolled").variant(UNROLL=1)
    return len(load_waits.groups_between_waits(listing(str(variant)))) - 1


@answer("06_second", 2)
def cycles_of_36_instructions() -> str:
    """The longest of three limits of an SM."""
    return f"{max(36 / 4, 24 / 2, 2):g}"


@answer("07_second", 1)
def wavefronts_down_a_column_of_36() -> str:
    """Rows of 36 words put every eighth lane into the same bank."""
    seen = trace(_down_a_column, 1, 32, np.zeros(32, np.float32))
    return f"{course.per_request(seen, 'tile', 'wavefronts'):.0f}"


@answer("07_second", 2)
def milliseconds_of_the_padded_tile() -> str:
    """The recorded time at 4096 of `tiled_padded`."""
    return f"about {course.recorded_ms(GEMM.step('tiled_padded')):.1f} ms"


@answer("08_second", 1)
def bytes_for_four_blocks() -> str:
    """A kernel with 4,096 bytes of its own, and four blocks on an SM of an H200."""
    return f"{shared_for(4, 4096):,}"


@answer("08_second", 2)
def milliseconds_with_sixteen_warps() -> str:
    """The recorded time of `naive` with 16 warps on an SM."""
    return f"about {fewer_warps.ms('naive', 16):.0f} ms"


@answer("09_second", 1)
def bytes_per_cycle() -> str:
    """Little's law, solved for the rate."""
    threads, loads, of_load, cycles = 1024, 4, 4, 1000
    return f"{threads * loads * of_load / cycles:.1f}"


@answer("09_second", 2)
def share_of_four_floats() -> str:
    """The recorded copy with 512 threads on an SM and four loads of a float in each."""
    frame = curves.recorded(curves.device_shown())
    return f"{100 * curves.share(frame, '4 float', threads=512):.1f} %"


@answer("10_second", 1)
def blocks_on_a_k40() -> int:
    """256 threads, 37 registers, and five tiles of 16×16 words."""
    return occupancy((3, 5), 256, 37, 5 * 16 * 16 * 4).blocks


@answer("10_second", 2)
def most_of_the_peak_with_any_grain() -> str:
    """An SM starts four multiply-adds of warps per cycle, and serves one wavefront."""
    return f"{100 / (4 * shared_cost(10**9, 0.5)):.1f} %"


@answer("11_second", 1)
def wavefronts_of_four_rows() -> str:
    """Half a wavefront for a word of sa, a quarter for a word of sb, and the stores."""
    return f"{course.machine_wavefronts(GEMM.step('ilp').variant(GRAIN=4)):.2f}"


@answer("11_second", 2)
def wavefronts_of_sixteen_rows() -> str:
    """One word from each of 16 rows, which cannot be joined."""
    return f"{course.machine_wavefronts(GEMM.step('ilp').variant(GRAIN=16)):.2f}"


@answer("12_second", 1)
def third_row_of_thread_9() -> int:
    """`y, apart = t // 8, 8`, and the row i of a thread is `y + apart * i`."""
    t, i = 9, 2
    return t // 8 + 8 * i


@answer("12_second", 2)
def reads_of_eight_by_four_in_machine_code() -> str:
    """All reads of shared memory are joined by fours."""
    loop = course.hot_loop(GEMM.step("register_blocked").variant(BM=64, BN=64, TM=8, TN=4))
    reads = sum(code.startswith("LDS") for code in loop.opcodes)
    return f"{reads / loop.multiply_adds:.4f}"


@answer("13_second", 1)
def product_with_whole_quads() -> str:
    """The only one of the four products that `vectorized` does not refuse."""
    shapes = ("4097×4096×4096", "4096×4097×4096", "4096×4096×4098", "4098×4098×4096")
    return ", ".join(filter(_has_whole_quads, shapes))


def _has_whole_quads(shape: str) -> bool:
    """Return whether wide loads can read all rows of a product m×n×k."""
    try:
        check_wide("vectorized", GEMM.parse(shape.replace("×", "x")))
    except CourseError:
        return False
    return True


@answer("13_second", 2)
def share_that_needs_no_wide_load() -> str:
    """What `padded_rows` saves, as a share of what `vectorized` saves."""
    ms = recorded_ms(wide_alone.recorded_times())
    before, padded, _, vectorized = (ms[str(one)] for one in wide_alone.variants()[:4])
    return f"{100 * (before - padded) / (before - vectorized):.0f} %"


@answer("14_second", 1)
def tiles_ahead_with_four_warps() -> int:
    """A latency of 700 cycles, 84 instructions per iteration, and four warps per scheduler."""
    return tiles_ahead(700, 84, 4)


@answer("14_second", 2)
def blocks_with_130_registers() -> int:
    """Blocks of 64 threads on an SM of an H200; shared memory has room for more."""
    return occupancy((9, 0), 64, 130, 0).blocks


@answer("15_second", 1)
def row_without_conflict() -> str:
    """The only one of the four lengths with which a store takes four wavefronts."""
    return ", ".join(str(words) for words in (36, 40, 48, 56) if _wavefronts(words) == 4)


def _wavefronts(words: int) -> float:
    """Return the wavefronts of a `store4` into rows of a number of words."""
    kernel = course.edited(row_length, course.Edit("(4, 48)", f"(4, {words})")).row_length
    seen = trace(kernel, 1, 32, np.zeros((4, 32), "f"), np.zeros((4, 32), "f"))
    return course.per_request(seen, "rows", "wavefronts", "store")


@answer("15_second", 2)
def share_without_waiting() -> str:
    """The multiply-adds of a warp for one tile, of all its instructions."""
    large = GEMM.step("maxwell256")
    useful = tile_iterations.multiply_adds_per_tile(large)
    return f"{100 * useful / tile_iterations.instructions_per_tile(large):.0f} %"


@answer("16_second", 1)
def accesses_to_local_memory() -> int:
    """The loads and stores of local memory in the loop of the starter."""
    rows = listed_rows("sums_in_registers starter")
    return sum(row.instruction.opcode.startswith(("LDL", "STL")) for row in rows)


@answer("16_second", 2)
def cycles_that_the_multiply_add_waits() -> str:
    """Each bank gives one register per cycle."""
    read = 12, 28, 27
    even = sum(number % 2 == 0 for number in read)
    return f"{max(even, len(read) - even) - 1}"


@answer("17_second", 1)
def arguments_for_rows() -> str:
    """What the solution hands to the library for a product of 5×7 and 7×6."""
    said = []
    a, b, c = (np.zeros(size, np.float32) for size in ((5, 7), (7, 6), (5, 6)))
    names = {id(a): "a", id(b): "b", id(c): "c"}
    call_by_rows(lambda *given: said.extend(names.get(id(one), one) for one in given), a, b, c)
    return f"`({', '.join(map(str, said))})`"


@answer("17_second", 2)
def words_of_the_copies() -> int:
    """The elements of both arrays that the fast kernel gets."""
    sizes = []

    def fast(a, b):
        sizes.extend((a.size, b.size))
        return a @ b

    pad_to_fours(fast, np.ones((5, 7), np.float32), np.ones((7, 6), np.float32))
    return sum(sizes)


@answer("18_second", 1)
def milliseconds_without_conflicts() -> str:
    """The recorded time of `reduce2`, for 2^30 elements."""
    times = {row.kernel: row.time_ms for row in recorded_times() if row.elements == 2**30}
    return f"about {times['reduce2']:.1f} ms"


@answer("18_second", 2)
def iterations_in_which_a_warp_adds() -> int:
    """The tree of `reduce3` with blocks of 512 threads."""
    seen = course.watch(REDUCE.step("reduce3").variant(BLOCK=512), "4096", record=0)
    return course.turns_and_busy(seen, "shared")[1]


@answer("19_second", 1)
def iterations_of_a_grid_stride_loop() -> int:
    """2^20 elements, 512 blocks of 256 threads, and two elements per iteration."""
    return len(range(0, 2**20, 512 * 2 * 256))


@cuda.jit
def _two_shuffles(x, out):
    total = x[cuda.threadIdx.x]
    total += cuda.shfl_down_sync(0xFFFFFFFF, total, 16)
    total += cuda.shfl_down_sync(0xFFFFFFFF, total, 8)
    out[cuda.threadIdx.x] = total


@answer("19_second", 2)
def lanes_in_the_sum_of_lane_0() -> str:
    """A one in a single lane reaches lane 0 or does not."""
    reached = []
    for lane in range(32):
        out = np.zeros(32, np.float32)
        trace(_two_shuffles, 1, 32, np.eye(32, dtype=np.float32)[lane], out)
        reached += [str(lane)] if out[0] else []
    return f"{', '.join(reached[:-1])} and {reached[-1]}"


@answer("20_second", 1)
def who_adds_in_the_second_launch() -> str:
    """The solution without its last line, launched twice with the same counter."""
    kept = course.edited(ticket, course.Edit("drawn[0] = 0", "pass")).ticket
    x, partials, drawn = np.ones(256, "f"), np.zeros(4, "f"), np.zeros(1, np.uint32)
    for out in (np.zeros(1, "f"), np.zeros(1, "f")):
        trace(kept, 4, 64, x, partials, drawn, out)
    return "no block" if out[0] == 0 else "the block that comes last"


@answer("20_second", 2)
def threads_without_a_fence() -> int:
    """All threads of the block but the one that passes the fence."""
    return ticket.BLOCK - 1


@answer("21_second", 1)
def what_the_pipe_allows() -> str:
    """2×2 sums: four multiply-adds for two rows and two broadcasts."""
    return f"{pipe_roof(4, 2, 2, 65_108, 33_068):,.0f} GFLOP/s"


@answer("21_second", 2)
def share_of_the_busiest_resource_of_k() -> str:
    """The counts of the kernel K of the lesson, in 10^9, and its time in ms."""
    return f"{busy_share(137.4, 0.20, 8.66, 0.539, 4.32, 5.49):.0f} %"


@answer("23_second", 1)
def stages_of_a_smaller_tile() -> str:
    """Tiles of 64×32 and 32×64 float16 in 48 KiB."""
    return str(48 * 1024 // (2 * (64 * 32 + 32 * 64)))


@answer("23_second", 2)
def blocks_with_fewer_registers() -> str:
    """Blocks of 128 threads with 168 registers and 48 KiB, on an SM of an H200."""
    return str(occupancy((9, 0), 128, 168, 48 * 1024).blocks)
