"""Three trees add the same words, with other threads or in other pairs."""

import re

import numpy as np
import pytest

from utils.lessons.lesson_18.reduction_tree import (
    WORDS,
    draw_tree,
    draw_trees,
    halves,
    neighbouring_threads,
    neighbours,
    warps_of,
    wavefronts_of,
)

TREES = pytest.mark.parametrize("tree", [neighbours, neighbouring_threads, halves])


@TREES
@pytest.mark.parametrize("words", [2, 16, 64])
def test_a_tree_adds_every_word_once(tree, words):
    values = np.arange(1, words + 1)
    for step in tree(words):
        assert len({thread for thread, _, _ in step}) == len(step)
        for _, left, right in step:
            values[left] += values[right]
    assert values[0] == words * (words + 1) // 2


def test_busy_warps_and_wavefronts_are_those_that_the_lesson_names():
    busy = [sum(len(warps_of(step)) for step in tree(WORDS)) for tree in (neighbours, halves)]
    assert busy == [11, 5]
    fronts = [
        sum(map(wavefronts_of, tree(WORDS))) for tree in (neighbours, neighbouring_threads, halves)
    ]
    assert fronts == [11, 11, 5]


def test_a_picture_says_in_words_who_adds():
    assert "8 of 16 threads" in draw_tree(neighbours, "no banks").body
    both = draw_trees(first_tree=neighbours, second=neighbouring_threads)
    assert both.alt.startswith("first tree: in step 1 the threads 0, 2, 4")
    words = "in step 2 the threads 0, 1, 2, 3 add, 1 of 4 warps, wavefronts for a load: 4"
    assert words in both.alt
    assert both.body.count("<svg") == 2


def test_lines_that_cross_get_room():
    def height(tree):
        return int(re.findall(r'viewBox="0 0 \S+ (\d+)', draw_tree(tree, "").body)[-1])

    assert height(halves) >= height(neighbours) + 20
