"""The picture of threads over elements shows whole blocks and the threads without an element."""

import re

from utils.division import cdiv
from utils.lessons.lesson_00.threads import threads_over_elements


def pictures(**arguments) -> list[str]:
    body = threads_over_elements(**arguments).body
    return re.findall(r'<div class="frame.*?</svg></div>', body, flags=re.DOTALL)


def test_every_length_has_whole_blocks_and_one_element_for_each_busy_thread():
    for length, picture in zip(range(1, 10), pictures(lengths=range(1, 10), block=4), strict=True):
        blocks = cdiv(length, 4)
        assert picture.count(">block ") == blocks
        assert picture.count("stroke-dasharray") == 4 * blocks - length
        assert picture.count("<path") == length


def test_the_first_picture_has_a_block_that_is_half_empty():
    first = pictures()[0]
    assert first.count("stroke-dasharray") == 2
    assert "2 blocks of 4 threads over 6" in first
    assert "the last 2 of them have none" in threads_over_elements().alt
    assert "threads; the last one has none" in threads_over_elements(lengths=[7], block=4).alt


def test_a_full_block_leaves_no_thread_over():
    assert "none is left over" in str(threads_over_elements(lengths=[8], block=4))
    assert "stroke-dasharray" not in threads_over_elements(lengths=[8], block=4).body
