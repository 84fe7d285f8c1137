"""The picture of an overrun shows the changed elements and the threads at the border."""

import numpy as np

from utils.lessons.lesson_00.overrun import overrun
from virtual_gpu.pictures.svg import ORANGE


def drawn(changed: int):
    second = np.zeros(600, np.float32)
    second[:changed] = 1
    return overrun(np.ones(600, np.float32), second, block=256)


def test_overwritten_elements_are_counted_and_the_first_thread_is_marked():
    picture = drawn(168)
    assert "second: 168 overwritten" in picture.body
    assert "Thread 88 of block 2 is the first" in picture.alt
    assert picture.body.count(">block 2<") == 2
    assert 'font-weight="bold" style="fill:#fff">88<' in picture.body
    assert 'stroke-dasharray="3 2"' not in picture.body


def test_with_a_guard_nothing_is_orange_and_the_threads_beyond_are_dashed():
    picture = drawn(0)
    assert "No element behind the 600 elements" in picture.alt
    assert picture.body.count('stroke-dasharray="3 2"') == 1 + 4  # small and large
    assert f'fill="{ORANGE}"' not in picture.body
