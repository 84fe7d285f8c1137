"""Tests of the family of reductions: the elements of each sum, and writable scratch memory."""

from dataclasses import replace

import numpy as np

from labs import EXERCISES
from labs.checking.judge import judge
from labs.families.reduction import Sums
from tests.labs.versions import changed

TREE = EXERCISES["tree"]


def test_sums_of_blocks_and_of_everything():
    x = np.arange(1, 11, dtype=np.float32)
    blocks, whole = Sums(threads=2, each=2), Sums(threads=2, each=2, whole=True)
    assert blocks.reference(x).tolist() == [10, 26, 19]
    assert whole.reference(x, np.zeros(3)).tolist() == [55]
    assert blocks.launch((10,)).grid == whole.launch((10,)).grid == (3,)
    assert (blocks.elements_of(2, 10), whole.elements_of(0, 10)) == (range(8, 10), range(10))


def test_a_kernel_may_change_its_scratch_memory_and_no_other_input():
    kernel = changed("tree", ("    if tid == 0:\n", "    x[0] = x[0]\n    if tid == 0:\n"))
    assert "changes `x`, which is an input" in judge(TREE, kernel, 20).causes[0]
    (cause,) = judge(replace(TREE, scratch=("x",)), kernel, 20).causes
    assert "changes `x`" not in cause
