"""The picture of lane maps agrees with the counts of the virtual GPU."""

import numpy as np
import pytest

from gemm_kernels.parts.lane_maps import LANE_MAPS
from utils.lessons.lesson_13.transposed_tile import draw_transposed_tile
from utils.lessons.lesson_lane_maps.lane_maps import draw_lane_maps, wavefronts_of
from virtual_gpu.counts.transactions import Pattern, wavefronts

MAPS = {
    **{one.py_func.__name__: one.py_func for one in LANE_MAPS},
    "column by column": lambda lane: (lane % 4, lane // 4),
    "one quad for all": lambda lane: (0, 0),
    "quads that meet in a bank": lambda lane: (lane // 8, lane * 8 % 64),
}


@pytest.mark.parametrize("name", MAPS)
def test_as_many_wavefronts_as_the_virtual_gpu_counts(name):
    sent = wavefronts_of(MAPS[name])
    for array, quads in zip("ab", np.array([MAPS[name](lane) for lane in range(32)]).T):
        pattern = Pattern(quads[None] * 16, np.ones((1, 32), bool))
        mine = [one for one in sent if one.array == array]
        assert len(mine) == wavefronts(pattern, 16)
        assert sorted(lane for one in mine for lane in one.lanes) == list(range(32))
        assert all(len({quad % 8 for quad in one.quads}) == len(one.quads) for one in mine)


def test_both_pictures_say_what_is_to_be_seen():
    shown = draw_lane_maps(row_by_row=MAPS["four_by_eight"])
    assert "row by row: 2 for a, 4 for b wavefronts" in str(shown)
    assert "one read of 128 bits" in str(draw_transposed_tile())
