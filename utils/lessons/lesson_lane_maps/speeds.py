"""The answer to the question "lane_maps.map", as one of its choices."""

from __future__ import annotations

from utils.lessons.questions import bank

# The least speed-up that is nearer to a choice than to the one after it.
_THIRD, _TENTH = 1.2, 1.05


def in_words(speedup: float) -> str:
    """Return the choice of the question "lane_maps.map" that describes a speed-up.

    It is "a third faster" from 1.2 on, "a tenth faster" from 1.05 on, and "within 5 %" for a
    smaller speed-up, also below 1. speedup: the time with the map of 3 wavefronts, divided by the
    time with the map of 2.
    """
    third, tenth, hardly = bank()["lane_maps.map"].choices
    return third if speedup >= _THIRD else tenth if speedup >= _TENTH else hardly
