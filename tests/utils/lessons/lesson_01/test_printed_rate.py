"""The picture of the benchmark has its source, and two bars in the ratio of their rates."""

import re

import pytest

from utils.lessons.lesson_01 import printed_rate
from utils.machine import devices


def test_the_bars_are_in_the_ratio_of_the_rates():
    drawn = printed_rate.draw()
    bars = [float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', drawn.body)]
    peak = devices.find(devices.REFERENCE).peak_gflops
    assert bars[0] / bars[1] == pytest.approx(printed_rate.printed_gflops() / peak, rel=0.01)
    assert bars[0] == printed_rate.LONGEST


def test_the_alt_text_has_the_source_and_both_rates():
    alt = printed_rate.draw().alt
    assert all(source in alt for source in printed_rate.SOURCE)
    assert alt.count("GFLOP/s") == 2


def test_the_rate_has_three_digits():
    assert "956,000 GFLOP/s" in printed_rate.draw().alt


def test_both_waits_make_the_rate_of_the_small_product_worse():
    small, large = printed_rate.rates_table(256, 4096).rows
    assert small == ("256", "1,307", "771", "2,032")
    assert large[0] == "4096"
