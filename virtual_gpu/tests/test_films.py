"""The parts of a movie: steps, costs, grids and encodings; and the traces that it refuses."""

import numpy as np
import pytest
from numba import cuda

from labs.exercises.whole_rows import solution as whole_rows
from utils.lessons.edits import Edit, edited
from virtual_gpu import VirtualGpuError, trace
from virtual_gpu.counts.recorder import RecordedArray
from virtual_gpu.pictures import movie
from virtual_gpu.pictures.encoding import addresses, runs, shown_values, spans
from virtual_gpu.pictures.film import MOST_STEPS, film_of
from virtual_gpu.pictures.grids import MOST, grid_of
from virtual_gpu.tests.filmed import FILMS, filmed, product, tiled


def film(name: str, focus: str = "reads"):
    return film_of(FILMS[name](), name, focus)


# ---- steps ----


def test_a_statement_is_a_step_and_its_next_round_another():
    tiled = film("tiled")
    kinds = ["".join(event.kind[0] for event in step.events) for step in tiled.steps]
    # Twice: two copies, a barrier, four multiply-adds of two loads each, a barrier. Then c.
    assert kinds == [*["ls", "ls", "b", "ll", "ll", "ll", "ll", "b"] * 2, "s"]


def test_threads_are_coloured_by_warp_and_in_one_warp_by_row():
    assert film("tiled").colours == 4
    assert film("reduce1").colours == 2
    assert list(film("tiled").colour_of(np.array([0, 4, 15]))) == [0, 1, 3]


def test_the_store_of_an_element_by_each_thread_is_the_threads_home():
    assert film("tiled").home.array == "c"
    assert film("reduce1").home is None


@pytest.mark.parametrize("name", FILMS)
def test_costs_add_up_to_the_counts_of_the_trace(name):
    traced = FILMS[name]()
    total, counted = film_of(traced, name, "reads").total, traced.totals
    assert total.requests == counted.global_load_requests + counted.global_store_requests
    assert total.sectors == counted.global_load_sectors + counted.global_store_sectors
    assert total.wavefronts == counted.shared_load_wavefronts + counted.shared_store_wavefronts
    assert total.atomics == counted.atomics
    assert total.used == sum(access.used_bytes for access in traced.access_counts)
    assert 0 <= total.wasted < 32 * max(1, total.sectors)


@pytest.mark.parametrize("pitch, in_a_queue", [(48, 0), (32, 16)])
def test_the_wavefronts_that_a_wide_access_needs_are_no_queue(pitch, in_a_queue):
    """Eight lanes store four words each into two rows: rows of 32 words make bank conflicts."""
    kernel = edited(whole_rows, Edit("(4, 48)", f"(4, {pitch})")).whole_rows
    x = np.ones((16, 32), np.float32)
    total = film_of(trace(kernel, 1, 32, x, x.copy(), record=0), "whole_rows", "banks").total
    assert total.wavefronts - total.plain == in_a_queue


def test_of_many_steps_the_middle_is_left_out_and_named():
    shown = film_of(product(tiled.build(16), (16, 16), 256, grid=(16, 16)), "tiled", "reads")
    (gap,) = [step for step in shown.steps if step.left_out]
    assert len(shown.steps) == MOST_STEPS + 1
    # 16 tiles of 2 copies, 2 barriers and 16 multiply-adds, and the store of c.
    assert gap.left_out == 16 * 20 + 1 - MOST_STEPS
    assert "201 steps in the middle are left out, and not counted." in shown.remarks


def test_events_beyond_the_recorders_limit_are_named():
    traced = product(tiled.build(4), (4, 4), 8, grid=(2, 2), events=10)
    assert any("ends after 10 events; 19 later ones" in said for said in movie(traced).sentences)


# ---- grids ----


def grid(shape, strides, touched=(), itemsize=4, flat_wrap=None):
    array = RecordedArray("x", "global", shape, strides, itemsize)
    return grid_of(array, np.array(touched, np.int64), flat_wrap)


@pytest.mark.parametrize(
    "shape, strides, size, down",
    [
        ((64,), (1,), (32, 2), False),
        ((8, 5), (5, 1), (5, 8), False),
        ((8, 5), (1, 8), (5, 8), True),
        ((4, 32), (33, 1), (33, 4), False),  # rows that are padded
        ((2, 4, 8), (32, 8, 1), (8, 8), False),
        ((40, 1), (1, 1), (32, 2), False),
        ((10,), (2,), (19, 1), False),  # every other element
        ((), (), (1, 1), False),
    ],
)
def test_an_array_is_drawn_as_its_memory_lies(shape, strides, size, down):
    drawing = grid(shape, strides)
    assert (drawing.size, drawing.down) == (size, down)
    assert drawing.is_whole


def test_elements_have_their_row_and_column():
    assert grid((8, 5), (5, 1)).cells(np.array([0, 7, 39])).tolist() == [[0, 0], [2, 1], [4, 7]]
    assert grid((8, 5), (1, 8)).cells(np.array([0, 7, 39])).tolist() == [[0, 0], [0, 7], [4, 7]]


def test_a_window_keeps_whole_sectors_that_are_touched():
    window = grid((512, 512), (512, 1), [3 * 512 + 20, 4 * 512 + 20])
    assert window.what_is_drawn == "rows 3 to 4, columns 16 to 23"
    assert window.cells(np.array([3 * 512 + 20, 3 * 512 + 30])).tolist() == [[4, 0]]


def test_a_window_of_a_vector_names_its_elements():
    touched = np.arange(96, 160)
    assert grid((100_000,), (1,), touched).what_is_drawn == "elements 96 to 159"


def test_of_many_touched_rows_the_first_and_the_last_are_kept():
    window = grid((200, 8), (8, 1), np.arange(1600))
    assert len(window.rows) == MOST
    assert window.what_is_drawn == "rows 0 to 47 and 184 to 199"


# ---- codes ----


def test_addresses_that_are_affine_are_four_numbers():
    x, y = np.arange(32) % 8, np.arange(32) // 8
    assert addresses(5 + 2 * x + 100 * y, (8, 4, 1)) == {"at": [5, 2, 100, 0]}


def test_other_addresses_are_runs_of_differences_and_absent_threads_are_named():
    first = np.array([-1, 7, 7, 0, -1])
    assert addresses(first, (5, 1, 1)) == {"steps": [7, 1, 0, 1, -7, 1], "who": [1, 3]}


def test_runs_and_spans():
    assert runs([1, 1, 2]) == [1, 2, 2, 1]
    assert spans(np.array([0, 1, 2, 5])) == [0, 3, 5, 1]


@pytest.mark.parametrize(
    "value, text",
    [(64.0, "64"), (0.125, ".125"), (-0.5, "-.5"), (1e7, "1e7"), (np.nan, "nan"), (True, "1")],
)
def test_a_value_is_written_short(value, text):
    assert shown_values(np.array([value]))[0] == text


# ---- words and refusals ----


def test_a_movie_is_told_in_words():
    text = str(movie(FILMS["naive"](), FILMS["tiled"](), labels=("naive", "tiled"), title="Tiles"))
    assert text.splitlines() == [
        "Tiles",
        "Block (0, 0) of 4×4 threads: one warp, 16 of its 32 lanes in use.",
        "naive: 9 steps; 256 reads from global memory.",
        "tiled: 17 steps; 64 reads from global memory, 256 from shared.",
    ]


def test_three_arrays_of_three_dimensions_are_no_matrix_product():
    @cuda.jit
    def added(x, y, out):
        i, j, k = cuda.grid(3)
        out[i, j, k] = x[i, j, k] + y[i, j, k]

    x, y, out = np.zeros((3, 2, 3, 4), np.float32)
    shown = trace(added, (1, 1, 1), (2, 3, 4), x, y, out, record=0)
    assert "48 reads from global memory" in shown.movie()._repr_html_()


def test_a_trace_without_a_record_is_refused_with_what_to_do():
    kernel, x = tiled.build(4), np.ones((4, 4), np.float32)
    with pytest.raises(VirtualGpuError, match=r"make it with trace\(\.\.\., record=0\)"):
        trace(kernel, 1, (4, 4), x, x, x.copy()).movie()


def test_a_block_that_touches_nothing_is_refused():
    def idle(x):
        pass

    with pytest.raises(VirtualGpuError, match="touches no array"):
        filmed(idle, 32, np.ones(1)).movie()


def test_wrong_words_are_refused():
    traced = FILMS["tiled"]()
    with pytest.raises(VirtualGpuError, match="one of reads, sectors, banks"):
        traced.movie(focus="lines")
    with pytest.raises(VirtualGpuError, match="2 labels for 1 traces"):
        movie(traced, labels=("a", "b"))
    with pytest.raises(VirtualGpuError, match="at least one"):
        movie()


def test_the_same_movie_is_the_same_html():
    assert FILMS["tiled"]().movie()._repr_html_() == FILMS["tiled"]().movie()._repr_html_()
