"""The picture of waves shows every slice once, and idle SMs without a slice."""

import re

from utils.lessons.lesson_17.wave_quantization import MOMENTS, SMS, draw_waves, waves_of


def drawn():
    shown = draw_waves()._repr_html_()
    return re.findall(r'<div class="frame.*?</div>', shown, flags=re.DOTALL)


def test_every_slice_of_every_tile_is_computed_once():
    for (tiles, slices), moment in zip(MOMENTS, drawn(), strict=True):
        names = re.findall(r">tile (\d+)<", moment)
        assert sorted(map(int, names)) == sorted(list(range(tiles)) * slices)


def test_what_is_left_of_a_wave_is_idle():
    for (tiles, slices), moment in zip(MOMENTS, drawn(), strict=True):
        idle = moment.count('fill-opacity="0.25"')
        assert idle == SMS * waves_of(tiles, slices) - tiles * slices


def test_the_share_of_the_time_is_told():
    assert ["100%" in one for one in drawn()] == [True, False, False, False]
    assert "56%" in drawn()[1]
    assert "75%" in drawn()[3]
