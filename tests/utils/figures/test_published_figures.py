"""Tests of published beside measured speeds, in percent of each device's peak."""

import pytest

from tests.utils.figures.example_figures import PUBLISHED, WITH_LIBRARY, gemm
from utils.errors import CourseError
from utils.figures.published_figures import published_beside_measured


def test_published_figures_are_converted_from_2_to_the_30():
    alt = published_beside_measured(PUBLISHED, gemm({"ilp": 33450})).alt_text
    # 1709 · 2^30 operations a second on a GPU with a peak of 6144 · 10^9.
    assert "29.9 % on GTX Titan X (Maxwell), 2016, 50.0 % on NVIDIA H200, 2026, ours" in alt
    # Gray and others 2022 give only this percentage.
    assert "maxas reaches 98.0 % on unstated (some Maxwell cards)" in alt
    # Neither a peak nor a percentage is known.
    assert "unstated (copies as on the GTX Titan X)" in set(PUBLISHED.device)
    assert "unstated (copies" not in alt


def test_a_kernel_and_a_step_of_one_name_stand_together():
    alt = published_beside_measured(PUBLISHED, gemm({"trivial": 33450})).alt_text
    assert "trivial reaches 6.3 % on C2070, 2012, 50.0 % on NVIDIA H200, 2026, ours;" in alt


def test_published_figures_that_cannot_be_compared_are_refused():
    with pytest.raises(CourseError, match="No published figure"):
        published_beside_measured(
            PUBLISHED[PUBLISHED.device.str.startswith("unstated (copies")], WITH_LIBRARY
        )
