"""The functions that a lesson calls, imported as `from utils import lessons as course`.

This package also executes and checks the notebooks. `lesson_NN/` holds the code that only lesson NN
uses. Kernels and command lines never import this package.
"""

from utils.lessons.block_sums import (
    bandwidths,
    block_cycles,
    blocks,
    draw_step,
    loads_by_step,
    turns_and_busy,
)
from utils.lessons.code import (
    show_change,
    show_difference,
    show_functions,
    show_kernel,
    show_loop,
    show_source,
)
from utils.lessons.comparison import compare
from utils.lessons.counting import (
    cache_lines_per_multiply_add,
    count,
    estimated_ms,
    loads_per_multiply_add,
    per_request,
    watch,
)
from utils.lessons.edits import Edit, edited
from utils.lessons.estimates import draw_estimates, draw_gains, draw_growth, estimates
from utils.lessons.findings import findings
from utils.lessons.granularity import (
    draw_grains,
    fastest_tile,
    grain_costs,
    machine_wavefronts,
    shared_estimates,
    trade,
    words_per_multiply_add,
)
from utils.lessons.inner_loops import draw_loops, hot_loop, hot_loops, two_estimates
from utils.lessons.lesson import device_shown, peaks, this_device
from utils.lessons.lesson_01.recorded_pitfalls import device_to_time, draw_pitfalls, recorded_series
from utils.lessons.lesson_02.single_core import (
    cache_misses,
    count_misses,
    faster_by_size,
    follow,
    multiplications,
    peak_of_core,
    time_here,
    vector_loop,
)
from utils.lessons.lesson_14.big_loop import draw_iterations, draw_tile_shapes, reads
from utils.lessons.lesson_15.tile_designs import blocks_and_sms
from utils.lessons.lesson_16.found_instructions import (
    draw_waits,
    find_in_loop,
    find_sum,
    find_wait,
    find_waits,
)
from utils.lessons.lesson_16.reading_machine_code import (
    draw_shares,
    eight_sums,
    even_bank_reads,
    fastest,
    loop_of_record,
    machine_loop,
    orders,
    recorded_cycles,
    spilled_ms,
    spills,
    spills_known,
)
from utils.lessons.lesson_19.recorded_grids import (
    blocks_at_once,
    draw_blocks,
    gains,
    grids,
    share_of_blocks,
)
from utils.lessons.lesson_20.reduction_comparison import parts_of_time, rates
from utils.lessons.lesson_21.calibration import whole_ledger
from utils.lessons.lesson_21.roofline_analysis import (
    busiest_share,
    counted_and_profiled,
    dram_over_least,
    draw_busiest,
    draw_needs,
    draw_roofline,
    draw_samples,
    most_sampled,
    saved_by_half_the_wavefronts,
    unnamed_kernels,
)
from utils.lessons.machine_code import compiled
from utils.lessons.occupancy import occupancies, occupancy_of_fastest, published_paradox, sm_limits
from utils.lessons.own_kernels import mine
from utils.lessons.own_ladder import my_ladder
from utils.lessons.predictions import begin_anew, ledger, predict, reveal
from utils.lessons.profiler import profiled
from utils.lessons.published import claimed, published_gflops, published_ms
from utils.lessons.races import race
from utils.lessons.recorded import (
    XEON,
    one_thread,
    recorded_ms,
    share_of_library,
    share_of_peak,
    times,
)
from utils.lessons.shared_reads import shared_reads
from utils.lessons.show_step import show_step
from utils.lessons.start_card import start
from utils.lessons.wavefronts import (
    profiled_wavefronts,
    shared_memory_ms,
    wavefronts,
    wavefronts_per_multiply_add,
)
from utils.translation import translate
from virtual_gpu.common.wording import translate_with

translate_with(translate)  # the pictures and tables of the virtual GPU

__all__ = [
    "XEON",
    "Edit",
    "bandwidths",
    "begin_anew",
    "block_cycles",
    "blocks",
    "blocks_and_sms",
    "blocks_at_once",
    "busiest_share",
    "cache_lines_per_multiply_add",
    "cache_misses",
    "claimed",
    "compare",
    "compiled",
    "count",
    "count_misses",
    "counted_and_profiled",
    "device_shown",
    "device_to_time",
    "dram_over_least",
    "draw_blocks",
    "draw_busiest",
    "draw_estimates",
    "draw_gains",
    "draw_grains",
    "draw_growth",
    "draw_iterations",
    "draw_loops",
    "draw_needs",
    "draw_pitfalls",
    "draw_roofline",
    "draw_samples",
    "draw_shares",
    "draw_step",
    "draw_tile_shapes",
    "draw_waits",
    "edited",
    "eight_sums",
    "estimated_ms",
    "estimates",
    "even_bank_reads",
    "faster_by_size",
    "fastest",
    "fastest_tile",
    "find_in_loop",
    "find_sum",
    "find_wait",
    "find_waits",
    "findings",
    "follow",
    "gains",
    "grain_costs",
    "grids",
    "hot_loop",
    "hot_loops",
    "ledger",
    "loads_by_step",
    "loads_per_multiply_add",
    "loop_of_record",
    "machine_loop",
    "machine_wavefronts",
    "mine",
    "most_sampled",
    "multiplications",
    "my_ladder",
    "occupancies",
    "occupancy_of_fastest",
    "one_thread",
    "orders",
    "parts_of_time",
    "peak_of_core",
    "peaks",
    "per_request",
    "predict",
    "profiled",
    "profiled_wavefronts",
    "published_gflops",
    "published_ms",
    "published_paradox",
    "race",
    "rates",
    "reads",
    "recorded_cycles",
    "recorded_ms",
    "recorded_series",
    "reveal",
    "saved_by_half_the_wavefronts",
    "share_of_blocks",
    "share_of_library",
    "share_of_peak",
    "shared_estimates",
    "shared_memory_ms",
    "shared_reads",
    "show_change",
    "show_difference",
    "show_functions",
    "show_kernel",
    "show_loop",
    "show_source",
    "show_step",
    "sm_limits",
    "spilled_ms",
    "spills",
    "spills_known",
    "start",
    "this_device",
    "time_here",
    "times",
    "trade",
    "turns_and_busy",
    "two_estimates",
    "unnamed_kernels",
    "vector_loop",
    "watch",
    "wavefronts",
    "wavefronts_per_multiply_add",
    "whole_ledger",
    "words_per_multiply_add",
]
