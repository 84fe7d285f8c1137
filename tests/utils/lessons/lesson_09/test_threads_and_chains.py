"""The picture of an SM shows the recorded curve, a law, and the warps of each scheduler."""

import json
import re

import pytest

from labs import EXERCISES
from latency_kernels.hiding import curves
from utils.lessons.lesson_09 import threads_and_chains as sm
from utils.machine import devices

H200 = devices.find("H200")
FRAME = curves.of_the_data_sheet(curves.recorded(H200), H200)
LAW = EXERCISES["law_of_schedulers"].solution


def boxes(body: str) -> int:
    """Return the visible warps."""
    return sum("hidden" not in box for box in re.findall(r"<rect[^>]*class=\"warp\"[^>]*>", body))


@pytest.mark.parametrize("threads, warps", [
    (32, [1, 0, 0, 0]), (128, [1, 1, 1, 1]), (576, [5, 5, 4, 4]), (1024, [8, 8, 8, 8]),
])  # fmt: skip
def test_warps_are_distributed_evenly(threads, warps):
    assert sm.distributed(threads) == warps
    assert boxes(sm.draw(FRAME, LAW, threads, 1).body) == sum(warps)


def test_the_words_say_what_is_under_way_and_both_shares():
    picture = sm.draw(FRAME, LAW, 64, 8)
    assert "64 threads × 8 = 512 under way" in picture.body
    assert "44.6 % recorded, 50.0 % by the law" in picture.body
    assert picture.body.count("8 of 4 needed") == 2
    assert picture.body.count("0 of 4 needed") == 2
    assert "The schedulers have 1, 1, 0, 0 warps" in picture.alt


def test_the_sliders_have_a_point_for_each_recorded_number():
    body = sm.explore(FRAME, LAW, 128, 1).body
    data = json.loads(re.search(r"var data = (\{.*\});", body)[1])
    rows = FRAME[(FRAME["experiment"] == "arithmetic") & (FRAME["sms"] == 1)]
    assert len(data["points"]) == len(rows)
    assert data["points"]["576 1"]["warps"] == [5, 5, 4, 4]
    assert data["points"]["576 1"]["titles"][1] == "81.7 % recorded, 90.0 % by the law"
    assert set(data["lines"]) == {str(chains) for chains in data["chains"]}
    for what in ("threads", "chains"):
        assert f'max="{len(data[what]) - 1}"' in body


def test_the_law_is_the_readers():
    high = sm.draw(FRAME, lambda threads, chains: 100, 32, 1)
    assert "6.1 % recorded, 100.0 % by the law" in high.body
