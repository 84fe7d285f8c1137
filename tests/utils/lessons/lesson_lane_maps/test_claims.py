"""Check the claims of the extra lesson on lane maps against counts and records."""

from functools import cache, partial

import numpy as np
import pandas as pd
import pytest

from gemm_kernels import LADDER, wide_alone
from gemm_kernels.parts import lane_maps
from tests import quotes
from utils import lessons as course
from utils.lessons.bounds import ISSUE, bounds_of
from utils.lessons.lesson_13.step_wavefronts import count_step, recorded_ms
from utils.lessons.lesson_lane_maps.lane_maps import SLOTS, wavefronts_of
from utils.lessons.lesson_lane_maps.patches import COLUMNS, draw_patches, places_of
from utils.lessons.lesson_lane_maps.patches import ROWS as TILE_ROWS
from utils.lessons.lesson_lane_maps.speeds import in_words
from utils.lessons.lesson_lane_maps.two_bounds import instructions_ms
from utils.lessons.questions import bank
from utils.lessons.shared_reads import SIDE, totals_of_tile
from utils.lessons.tile_iterations import instructions_per_tile
from utils.lessons.wavefronts import WAVEFRONTS
from utils.machine.devices import REFERENCE, find
from utils.paths import DATA
from virtual_gpu.counts.transactions import BANKS

PREFETCH = LADDER.step("prefetch").variant()
MAPS = ROWS, ROWS_OF_8, Z, ZIG = [
    LADDER.step("warp_tiled").variant(LANES=number) for number in range(4)
]
QUAD, WARP, SIZE = 4, 32, 4096
TILE = TILE_ROWS, COLUMNS
says, explains = partial(quotes.says, "lane_maps"), quotes.explains
recorded = partial(course.recorded_ms, shape=str(SIZE))


@cache
def totals_of(variant):
    return totals_of_tile(variant, SIZE)


def per_read(variant):
    totals = totals_of(variant)
    return totals["shared_load_wavefronts"] / totals["shared_load_requests"]


def shared_ms(variant):
    return busy(variant) * recorded(variant)


def issue_ms(variant):
    return instructions_ms(variant, str(SIZE))


def busy(variant):
    """Return the part of the recorded time that shared memory alone takes."""
    needed = WARP * totals_of(variant)[WAVEFRONTS].sum() / (SIDE**2 * SIZE)
    return course.shared_memory_ms(needed, str(SIZE)) / recorded(variant)


def counts(lane_map):
    sent = [wave.array for wave in wavefronts_of(lane_map)]
    return sent.count("a"), sent.count("b")


def rows_of_8(lane):
    return lane // 8, lane % 8


def of_b(quads):
    return counts(lambda lane: (0, quads[lane]))[1]


def test_eight_quads_use_all_banks():
    assert SLOTS * QUAD == BANKS
    says("**{} lanes read the same eight quads", WARP)
    says("The picture has the {} lanes of a warp.", WARP)
    says(
        "Quad {} has the words {} to {}, quad {} the words {} to {}, and so on, so the eight quads "
        "use all {} banks",
        SLOTS % 8,
        SLOTS % 8,
        QUAD - 1,
        QUAD // QUAD,
        QUAD,
        2 * QUAD - 1,
        BANKS,
    )


def test_the_rule_of_pairs():
    lanes = np.arange(WARP)
    first, pair, next_but_one = lanes % 8, lanes // 2 % 8, lanes // 4 * 2 % 8 + lanes % 2
    assert of_b(first) == 4
    assert of_b(pair) == of_b(next_but_one) == 2
    says("If *every* lane wants the same quad as its **neighbour**, {} lanes are served at a time. "
         "Neighbours are the lanes `n` and `n ^ {}`: {} and {}, {} and {}, and so on.",
         WARP // of_b(pair), lanes[0] ^ lanes[1], *lanes[:4])  # fmt: skip
    partners = {lane: lane ^ 2 for lane in lanes}
    says("The same holds for the lanes `n` and `n ^ {}`: {} and {}, {} and {}, {} and {}, {} and "
         "{}, and so on. If *every* lane wants the same quad as this **next neighbour but one**, "
         "{} lanes are served at a time.", partners[0],
         *(each for lane in (0, 1, 4, 5) for each in (lane, partners[lane])),
         WARP // of_b(next_but_one))  # fmt: skip
    one_moved = pair.copy()
    one_moved[5] = 7
    assert of_b(one_moved) == 4
    says("A wide read never serves more than {} lanes at a time", WARP // of_b(0 * lanes))


def test_quads_in_the_same_banks_need_one_more_wavefront():
    apart = np.arange(WARP) // 2 % SLOTS
    same_banks = apart.copy()
    same_banks[2:4] = SLOTS  # in the banks of quad 0
    assert of_b(same_banks) == of_b(apart) + 1
    says("The quads {} and {} use the same banks.", apart[0], SLOTS)


def prefetch_quads(lane):
    return lane // 16, 2 * (lane % 16)


def test_the_profiler_of_an_h200_counted_as_many():
    rows = pd.read_csv(DATA / "measured" / "nvidia_h200" / "counters.csv")
    for variant in MAPS:
        name = "_".join(map(str, (variant.step.name, *variant.constants.values())))
        counters = rows[rows["launch"] == name].set_index("counter")["value"]
        each = counters["shared_load_wavefronts"] / counters["shared_load_requests"]
        lane_map = lane_maps.LANE_MAPS[variant.constants["LANES"]].py_func
        assert each == len(wavefronts_of(lane_map)) / 2
    name = "_".join(map(str, (PREFETCH.step.name, *PREFETCH.constants.values())))
    counters = rows[rows["launch"] == name].set_index("counter")["value"]
    each = counters["shared_load_wavefronts"] / counters["shared_load_requests"]
    assert each == len(wavefronts_of(prefetch_quads)) / 2 == per_read(PREFETCH)


def test_patches_in_rows_of_8_take_6_wavefronts():
    a, b = counts(rows_of_8)
    down, across = (1 + max(place) for place in zip(*map(rows_of_8, range(WARP))))
    side = PREFETCH.constants["TM"] // 2
    says("A thread need not compute {}×{} *neighbouring* elements of c. It can take four "
         "**patches** "
         "of {}×{} elements", 2 * side, 2 * side, side, side)  # fmt: skip
    says("The picture shows the tile of a warp, {}×{} elements, and the first two of its {} "
         "threads.", *TILE, WARP)  # fmt: skip
    assert (2 * down * side, 2 * across * side) == TILE
    says("In a quarter of the tile, {}×{} elements, each lane has one patch: {} patches down and "
         "{} across.", down * side, across * side, down, across)  # fmt: skip
    explains(
        "lane_maps.rows",
        "Neighbours share a quad of a: {} wavefronts. No neighbours, and no next but one, share "
        "a quad of b: {}. Together {} + {} = {} wavefronts.",
        a,
        b,
        a,
        b,
        a + b,
    )
    for lane in range(WARP):
        for distance in (1, 2):
            assert rows_of_8(lane)[1] != rows_of_8(lane ^ distance)[1]


def test_both_known_maps_take_two_and_two():
    z, zig = (one.py_func for one in (lane_maps.z_order, lane_maps.zig_zag))
    assert counts(z) == counts(zig) == (2, 2)
    assert all(zig(lane)[1] == zig(lane ^ 1)[1] for lane in range(WARP))
    assert all(zig(lane)[0] == zig(lane ^ 2)[0] for lane in range(WARP))
    assert all(
        z(lane)[0] == z(lane ^ 1)[0] and z(lane)[1] == z(lane ^ 2)[1] for lane in range(WARP)
    )
    banks = {QUAD * len(wave.quads) for wave in wavefronts_of(z) if wave.array == "b"}
    says("Only {} banks work in each read of `b` by `z_order`.", *banks)


@pytest.mark.slow
def test_fewer_wavefronts_stop_to_pay():
    down, across = (len(set(way)) for way in zip(*map(lane_maps.row_major.py_func, range(WARP))))
    says("Its map *rows of {}* gives a warp {}×{} patches, row by row. A read then takes {:.0f} "
         "wavefronts on average, as with the rows of {}:", across, down, across, per_read(ROWS),
         len({rows_of_8(lane)[1] for lane in range(WARP)}))  # fmt: skip
    assert per_read(ROWS_OF_8) == per_read(ROWS)
    says(
        "`z_order` needs {:.0f} wavefronts per read instead of {:.0f}.", per_read(Z), per_read(ROWS)
    )
    near = int(bank()["lane_maps.map"].choices[2].split()[1])
    says("a third faster than the one with rows of {}, a tenth faster, or within {} % of it?",
         len({lane_maps.row_major.py_func(lane)[1] for lane in range(WARP)}), near)  # fmt: skip
    assert recorded(ROWS) == min(map(recorded, MAPS))
    says("the map that was fastest, rows of {}.", WARP // 2)
    assert LADDER.step("warp_tiled").variant() == ROWS
    explains(
        "lane_maps.map",
        "With {:.0f} wavefronts per read shared memory is busy for {:.0f} % of the time, so the "
        "time hardly depends on it. Recorded are {:.2f} and {:.2f} ms: within {} %, and the map "
        "with {:.0f} wavefronts is no faster.",
        per_read(ROWS),
        100 * busy(ROWS),
        recorded(ROWS),
        recorded(Z),
        near,
        per_read(Z),
    )


@pytest.mark.slow
def test_the_larger_of_two_bounds():
    a, b = counts(prefetch_quads)
    groups, quads = WARP // 8, [prefetch_quads(lane)[1] for lane in range(8)]
    says("lanes {} to {} want the quads {}, {}, {} and so on to {}", 0 * a, len(quads) - 1,
         *quads[:3], quads[-1])  # fmt: skip
    says("each group of eight lanes needs {} wavefronts, and the four groups need {} · {} = {}.",
         b // groups, groups, b // groups, b)  # fmt: skip
    says("which makes {}. The average is ({} + {}) / {} = {:.0f}.", a, b, a, len((a, b)),
         per_read(PREFETCH))  # fmt: skip
    shared, issue = shared_ms(ROWS), issue_ms(ROWS)
    says("**From `prefetch` to rows of {}** shared memory falls from {:.2f} to {:.2f} ms, but the "
         "instructions still need {:.2f} ms.", WARP // 2, shared_ms(PREFETCH), shared,
         issue)  # fmt: skip
    assert round(issue_ms(PREFETCH), 2) == round(issue, 2) > shared
    assert shared_ms(PREFETCH) > issue
    falls = max(shared_ms(PREFETCH), issue_ms(PREFETCH)) - max(shared, issue)
    says("So the bound falls by only {:.2f} ms, and the recorded time by {:.2f} ms.", falls,
         recorded(PREFETCH) - recorded(ROWS))  # fmt: skip
    says("**From rows of {} to `z_order`** shared memory falls to {:.2f} ms.", WARP // 2,
         shared_ms(Z))  # fmt: skip
    slower = {round(100 * (recorded(one) / recorded(ROWS) - 1)) for one in (Z, ZIG)}
    says("`z_order` and `zig_zag` are {} % *slower*.", *slower)
    says("so it is at most a part of the {} %.", *slower)
    per_tile = [instructions_per_tile(one) for one in (Z, ZIG, ROWS)]
    says("a warp needs {:g} instructions per tile with `z_order` and {:g} with `zig_zag`, instead "
         "of {:g}. That is {:.1f} % and {:.1f} % more", *per_tile,
         *(100 * (each / per_tile[-1] - 1) for each in per_tile[:2]))  # fmt: skip


def test_the_two_maps_are_slower_by_more_than_noise():
    rows = pd.read_csv(DATA / "measured" / "nvidia_h200" / "gemm.csv")
    rows = rows[(rows["n"] == SIZE) & (rows["m"] == SIZE) & (rows["k"] == SIZE)]
    maps = rows[rows["step"] == "warp_tiled"].set_index("params")
    spread = (maps["time_ms_max"] / maps["time_ms_min"] - 1).max()
    says("the repeated measurements of each kernel differ by less than {} %",
         int(np.ceil(100 * spread)))  # fmt: skip


@pytest.mark.slow
def test_the_instructions_need_more_time_than_shared_memory():
    issue = issue_ms(ROWS)
    says("with rows of {} the instructions fill {:.0f} % of the {:.2f} ms. What takes the "
         "remaining {:.0f} %?", WARP // 2, 100 * issue / recorded(ROWS), recorded(ROWS),
         100 - round(100 * issue / recorded(ROWS)))  # fmt: skip
    old, padded, *_ = wide_alone.variants()
    ms, issued = recorded_ms(wide_alone.recorded_times()), bounds_of(old, str(SIZE))[ISSUE].ms
    says("`padded_rows` saved wavefronts and {:.2f} ms. Before the padding all wavefronts needed "
         "{:.2f} ms, "
         "and the instructions only {:.2f} ms.", ms[str(old)] - ms[str(padded)],
         count_step(old).alone_ms(find(REFERENCE)), issued)  # fmt: skip


def test_the_picture_of_patches_has_the_quads_side_by_side():
    shown = str(draw_patches())
    neighbours, patches = places_of().values()
    assert patches[1][0] == (0, QUAD)
    assert neighbours[1][0] == (0, 2 * QUAD)
    assert f"thread 1 reads the words {QUAD} to {2 * QUAD - 1}" in shown


def test_the_answer_is_in_the_words_of_the_choices():
    third, tenth, hardly = bank()["lane_maps.map"].choices
    assert [in_words(one) for one in (1.33, 1.1, 0.96)] == [third, tenth, hardly]
    assert in_words(recorded(ROWS) / recorded(Z)) == hardly
    assert abs(recorded(ROWS) / recorded(Z) - 1) < 0.05
