"""The target of independent chains: the rounding of float32 shows how a sum is added."""

import pytest

from labs import EXERCISES
from labs.checking import variants
from labs.checking.run import run_kernel
from labs.targets.chains import (
    independent_chains,
    longest_chain,
    neighbours_apart,
    order_of_terms,
)
from tests.labs.versions import PATIENCE, from_text

NAME = "four_chains"
EXERCISE = EXERCISES[NAME]
SHAPE = EXERCISE.shapes[0]
TERMS = SHAPE[2]
SUM = "totals[i % 4] +="


def run_of(*changes):
    kernel = from_text(NAME, variants.changed(EXERCISE, changes))
    return run_kernel(EXERCISE, kernel, SHAPE, PATIENCE)


@pytest.mark.parametrize("chains", [1, 2, 4])
def test_with_n_chains_the_longest_one_has_an_nth_of_the_terms(chains):
    run = run_of((SUM, f"totals[i % {chains}] +="))
    assert longest_chain(run) == TERMS // chains


def test_chains_of_neighbouring_terms_count_as_chains():
    assert longest_chain(run_of((SUM, "totals[i // 8] +="))) == TERMS // 4


def test_one_chain_among_others_misses_the_target_if_it_has_most_of_the_terms():
    run = run_of((SUM, "totals[i % 4 if i < 8 else 0] +="))
    assert longest_chain(run) > TERMS // 2
    target = independent_chains(2, TERMS)
    assert target.missed(target.measure(run))


def test_a_kernel_that_stores_nothing_has_no_long_chain():
    run = run_of(("c[row, col] = totals[0] + totals[1] + totals[2] + totals[3]", "pass"))
    assert longest_chain(run) == 1


@pytest.mark.parametrize(
    ("index", "pairs"),
    [("i % 4", 0), ("(i + start // TILE) % 4", 0), ("i % 8 % 4", 0),
     # of the 24 pairs among the first terms, less than 4 apart
     ("i // 8", 7 + 6 + 5), ("i // 2 % 4", 4), ("i % 3", 8), ("0", 24)],
)  # fmt: skip
def test_terms_in_a_row_that_share_a_chain_are_counted(index, pairs):
    target = neighbours_apart(4)
    run = run_of((SUM, f"totals[{index}] +="))
    assert target.measure(run) == pairs
    assert target.missed(pairs) == (pairs > 0)


STEPS = "for i in range(TILE):"


@pytest.mark.parametrize(
    ("term", "index", "pairs"),
    [("u % 4 * 8 + u // 4", "u % 4", 0), ("u % 8 * 4 + u // 8", "u // 8", 7 + 6 + 5)],
)
def test_the_order_of_execution_counts_and_not_the_number_of_a_term(term, index, pairs):
    loop = f"for u in range(TILE):\n            i = {term}"
    run = run_of((STEPS, loop), (SUM, f"totals[{index}] +="))
    assert order_of_terms(run) == [eval(term) for u in range(32)]
    assert neighbours_apart(4).measure(run) == pairs


def test_a_kernel_without_a_tile_is_taken_to_add_its_terms_in_order():
    run = run_of(("tile_a[ty, i] * tile_b[i, tx]", "a[row, start + i] * b[start + i, col]"))
    assert order_of_terms(run) == list(range(32))
