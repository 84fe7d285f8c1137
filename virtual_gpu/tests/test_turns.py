"""Iterations of loops, counted for each thread."""

import numpy as np
from numba import cuda

from virtual_gpu import trace

THREADS = 40


def turns(kernel) -> list[int]:
    """Return the iterations of each loop of a kernel of 40 threads, in the order of the source."""
    run = trace(kernel, 1, THREADS, np.zeros(THREADS, np.float32))
    return [run.turns[site] for site in sorted(run.turns, key=lambda site: site.line)]


def test_a_while_loop_counts_the_turns_and_not_its_last_test():
    @cuda.jit
    def kernel(out):
        i = 0
        while i < 3:
            out[cuda.grid(1)] += i
            i += 1

    assert turns(kernel) == [3 * THREADS]


def test_each_thread_counts_its_own_turns():
    @cuda.jit
    def kernel(out):
        x = cuda.grid(1)
        for i in range(x):
            out[x] += i

    assert turns(kernel) == [THREADS * (THREADS - 1) // 2]


def test_an_inner_loop_and_one_over_a_tuple_count_by_themselves():
    @cuda.jit
    def kernel(out):
        x = cuda.grid(1)
        for i in range(2):
            for part in (1, 2, 3):
                out[x] += i * part

    assert turns(kernel) == [2 * THREADS, 6 * THREADS]


def test_a_turn_that_is_cut_short_is_a_turn():
    @cuda.jit
    def kernel(out):
        x = cuda.grid(1)
        for i in range(9):
            if x < 30:
                break
            if i > 3:
                continue
            out[x] += i

    assert turns(kernel) == [30 + 9 * 10]


def test_a_loop_that_nobody_enters_has_no_turns():
    @cuda.jit
    def kernel(out):
        for i in range(out.size, 3):
            out[0] = i

    assert turns(kernel) == []
