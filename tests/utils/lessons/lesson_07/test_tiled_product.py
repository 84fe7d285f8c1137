"""The picture of tiling shows each moment in the order of the kernel."""

import re

from utils.lessons.lesson_07.tiled_product import (
    CELL,
    MATRICES,
    SHARED,
    THREAD,
    TILE,
    draw_tile_walk,
)
from virtual_gpu.pictures.svg import BLUE, GREEN, ORANGE


def drawn():
    return re.findall(
        r'<div class="frame.*?</div>', draw_tile_walk()._repr_html_(), flags=re.DOTALL
    )


def corners_of(moment, colour):
    """Return the corners of the opaque rectangles of this colour."""
    matches = re.findall(
        rf'<rect x="([\d.]+)" y="([\d.]+)" [^>]*fill="{colour}"(?: fill-opacity="1")?/>', moment
    )
    return {(float(x), float(y)) for x, y in matches}


def test_tiles_of_a_go_along_its_rows_and_tiles_of_b_down_its_columns():
    (ax, ay), (bx, by), step = MATRICES["a"], MATRICES["b"], TILE * CELL
    first, second = drawn()[0], drawn()[2]
    assert corners_of(first, BLUE) == {(ax, ay), (bx, by)}
    assert corners_of(second, BLUE) == {(ax + step, ay), (bx, by + step)}


def test_one_thread_copies_the_word_at_its_own_place_in_either_tile():
    (ax, ay), (bx, by) = MATRICES["a"], MATRICES["b"]
    corners = [(ax, ay), (bx, by), *SHARED.values(), MATRICES["c"]]
    row, column = THREAD
    expected = {(x + column * CELL, y + row * CELL) for x, y in corners}
    assert corners_of(drawn()[0], GREEN) == expected


def test_what_is_multiplied_is_read_from_shared_memory_alone():
    for moment in drawn()[1::2]:
        read = corners_of(moment, ORANGE)
        assert len(read) == 2
        for (x, y), (left, top) in zip(sorted(read), SHARED.values(), strict=True):
            assert left <= x < left + TILE * CELL
            assert top <= y < top + TILE * CELL


def test_the_picture_is_told_in_words_and_fits_a_phone():
    picture = draw_tile_walk()
    assert f"{TILE} times from shared memory" in picture.alt
    widths = [float(width) for width in re.findall(r'viewBox="0 0 ([\d.]+)', picture.body)]
    assert max(widths) <= 460
