"""The bars of published and measured tile sizes: units, order and alt text."""

import pandas as pd
import pytest

from utils.lessons.lesson_07.tile_sizes import draw_tile_sizes, shares
from utils.machine.devices import REFERENCE
from utils.measuring import records

PUBLISHED, MEASURED = records.published("gemm_gpu"), records.measured(REFERENCE, "gemm")


def test_what_a_source_counts_in_2_to_the_30_is_converted():
    c2070 = shares(PUBLISHED, MEASURED)["C2070, 2012"]
    assert c2070["tile 16"] == pytest.approx(100 * 165 * 2**30 / 1e9 / 1030)


def test_ours_are_those_of_the_size_that_was_published():
    cubes = MEASURED[(MEASURED[["m", "n", "k"]] == 1024).all(axis=1)]
    (wanted,) = cubes[(cubes["step"] == "tiled") & (cubes["params"] == "TILE=8")]["efficiency"]
    name, recorded = list(shares(PUBLISHED, MEASURED).items())[-1]
    assert name.startswith(REFERENCE)
    assert list(recorded) == ["naive", "tile 8", "tile 16", "tile 32"]
    assert recorded["tile 8"] == pytest.approx(100 * wanted)


def test_a_device_that_has_fewer_records_has_fewer_bars():
    some = MEASURED[(MEASURED["step"] != "tiled") | (MEASURED["params"] != "TILE=8")]
    assert "tile 8" not in list(shares(PUBLISHED, pd.DataFrame(some)).values())[-1]


def test_every_bar_is_told_in_words():
    picture = draw_tile_sizes(PUBLISHED, MEASURED)
    for name, bars in shares(PUBLISHED, MEASURED).items():
        assert name in picture.alt
        assert all(f"{percent:.1f} %" in picture.alt for percent in bars.values())
