"""Test the bars of what warps wait for."""

import pytest

from reduce_kernels.remainder import WarpState, recorded_states
from utils.errors import CourseError
from utils.lessons.lesson_18.warp_waits import WAITS, draw_waits, waits_of
from virtual_gpu.pictures.svg import PURPLE


def test_a_wait_is_a_share_of_all_states_of_a_warp():
    cycles = {
        "long_scoreboard": 2, "lg_throttle": 1, "short_scoreboard": 1, "mio_throttle": 0,
        "barrier": 1, "math_pipe_throttle": 0, "dispatch_stall": 0, "selected": 1, "wait": 4,
    }  # fmt: skip
    states = [WarpState("one", "a_b", 2**20, state, cycle) for state, cycle in cycles.items()]
    assert list(waits_of(states, "a_b").values()) == [30, 10, 10, 0, 0]
    with pytest.raises(CourseError, match=r"b has no row in warp_states\.csv"):
        waits_of(states, "b")


def test_a_bar_has_a_segment_per_wait_and_numbers_where_they_have_room():
    picture = draw_waits(recorded_states(), "warps_leave", "reduce3")
    assert "warps_leave: global memory 58 %, shared memory 8 %, barrier 9 %" in picture.alt
    assert picture.alt.index("warps_leave: ") < picture.alt.index("reduce3: ")
    assert picture.body.count(PURPLE) == 3  # of both bars, and in the legend
    assert picture.body.count("fill:#fff") == 7
    assert all(f">{what}</text>" in picture.body for what in WAITS)
