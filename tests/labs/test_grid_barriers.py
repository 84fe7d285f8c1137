"""A sum in one launch may not wait at a barrier of the whole grid."""

import pytest

from labs import EXERCISES, check
from labs.checking.variants import function_in

DRAW = "number[0] = cuda.atomic.add(drawn, 0, 1)\n    cuda.syncthreads()\n"


@pytest.mark.parametrize("barrier", ["cuda.cg.this_grid().sync()", "grid.sync()"])
def test_a_ticket_with_a_barrier_of_the_grid_is_refused(barrier):
    text = EXERCISES["ticket"].solution_text
    assert DRAW in text
    text = text.replace(DRAW, DRAW.replace("cuda.syncthreads()", barrier))
    grid = "    i, grid = cuda.grid(1), cuda.cg.this_grid()\n"
    text = text.replace("    i = cuda.grid(1)\n", grid)
    verdict = check("ticket", function_in("ticket", text), 60)
    assert not verdict.passed
    line = text.split("\n").index(f"    {barrier}") + 1
    assert f"line {line} is a barrier of the whole grid" in " ".join(verdict.causes)


@pytest.mark.parametrize("place", ["    words[block] = x[block]\n", "    if cuda.atomic.add(drawn"])
def test_two_fences_with_a_barrier_of_the_grid_beside_them_are_refused(place):
    text = EXERCISES["two_fences"].solution_text
    assert text.count(place) == 1
    text = text.replace(place, f"    cuda.cg.this_grid().sync()\n{place}")
    verdict = check("two_fences", function_in("two_fences", text), 60)
    assert not verdict.passed
    assert "is a barrier of the whole grid" in " ".join(verdict.causes)
