"""Test the pictures and tables of lesson 23."""

import pytest

from labs.exercises.stage_ready.solution import stage_ready
from labs.exercises.swizzled_tile import solution
from utils.lessons.lesson_23 import (
    bank_rows,
    feeding,
    four_parts,
    machine_code,
    mma_alone,
    stages,
)


def test_the_first_chunks_of_long_rows_meet():
    drawn = bank_rows.draw_rows()
    assert "are in groups 0, 0, 0, 0, 0, 0, 0, 0, so reading them takes 8 wavefronts" in drawn.alt
    assert "40 elements per row: 1 wavefront" in drawn.body


def test_each_picture_has_a_frame_per_label():
    for picture, frames in (
        (bank_rows.draw_rows(), len(bank_rows.LENGTHS)),
        (bank_rows.draw_swizzle(), 8),
        (bank_rows.draw_swizzle(32), 4),
        (four_parts.draw_parts(), 32),
    ):
        assert picture.body.count('<div class="frame">') == frames - 1  # and the first one
        assert len(picture._repr_html_()) < 300_000


def test_each_tile_is_copied_in_two_iterations_and_then_multiplied():
    for tile in range(stages.TILES):
        stage = tile % stages.STAGES
        words = [stages.state(stage, iteration)[0] for iteration in range(tile, tile + 3)]
        assert words == [f"tile {tile} is being copied"] * 2 + [f"tile {tile} is multiplied"]


def test_the_timeline_names_what_each_stage_does():
    drawn = stages.draw_stages()
    assert "Iteration 3: in stage 0 tile 3 is being copied, in stage 1 tile 1 is mul" in drawn.alt
    assert drawn.body.count(">tile ") == 3 * stages.TILES  # two iterations of copies, one of mma


@pytest.mark.slow
def test_the_bars_name_their_times():
    assert "of which" in feeding.draw_two().alt
    for name in ("mma_shared", "mma_pipelined", "cuBLAS"):
        assert name in feeding.draw_ladder().alt


def test_a_reader_sees_the_wavefronts_of_the_own_tile():
    own = feeding.beside_the_course(solution.swizzled_tile)
    assert own.rows == (("ldmatrix", "32", "4"), ("store", "4", "4"))


def test_the_loop_of_the_colleague_has_the_numbers_that_the_finding_names():
    late = stages.late_commit(stage_ready)
    traced = stages.run(late)
    shown = stages.explained(late, traced).parts[0].data
    assert f"{traced.findings[0].line}          ldmatrix_x4(" in shown


def test_the_share_of_mma_alone_has_a_line_per_number_of_warps():
    drawn = mma_alone.draw_share()
    for label in ("1 warp", "2 warps", "4 warps", "mma_pipelined", "cuBLAS"):
        assert f">{label}<" in drawn.body
    assert "16: 66%" in drawn.alt


def test_the_kernel_of_cublas_fills_an_sm():
    assert mma_alone.beside_cublas().rows[1] == ("blocks that an SM holds", "2", "1")


@pytest.mark.slow
def test_a_table_has_each_step():
    named = [f"mma_{row[0]}" for row in machine_code.loops_table().rows]
    assert named == list(feeding.STEPS)
    assert machine_code.needs_table().head == ("", "swizzled", "pipelined")
