"""Tests of single exercises: their launches, their counts and their sentences."""

import itertools
import re

import numpy as np
import pytest

from labs import EXERCISES, check
from labs.exercises.dynamic_tiles.solution import dynamic_tiles
from labs.exercises.lane_map.wrong import mapped
from labs.families.lane_maps import primes
from labs.families.product import inputs
from labs.host.launches import CALLS, best_launch
from tests.labs.versions import changed, right, wrong
from virtual_gpu import trace

COUNTS = {
    ("shuffles", "words of shared memory"): 8,
    ("shuffles", "barriers per block"): 1,
    ("to_the_gpu_and_back", "copies"): 3,
    ("without_copies", "copies"): 0,
    ("without_copies", "bytes"): 0,
}


@pytest.mark.parametrize("name, what", COUNTS)
def test_a_solution_is_counted(name, what):
    assert check(name, EXERCISES[name].solution).counts[what] == COUNTS[name, what]


def test_a_right_function_that_copies_twice_as_often_is_counted():
    verdict = check("to_the_gpu_and_back", EXERCISES["to_the_gpu_and_back"].starter)
    assert not verdict.passed
    assert verdict.counts == {"copies": 6, "bytes": 51200}


@pytest.mark.parametrize(
    "name, what",
    [
        ("tiling", "two tiles in turns"),
        ("double_buffer", "the side by a difference"),
        ("double_buffer", "the last tile behind the loop"),
    ],
)
def test_barriers_per_tile_are_told_as_a_whole_number(name, what):
    assert re.search(r"barriers per tile: 1 \(", str(check(name, right(name, what))))


def test_two_barriers_with_two_sides_are_not_put_down_to_room():
    verdict = check("double_buffer", wrong("double_buffer", "two sides and two barriers"))
    assert "room for one tile" not in str(verdict)


def test_no_warning_of_numbas_stands_above_the_answer(recwarn):
    product = (
        "total += tile_a[ty, i] * tile_b[i, tx]", "total += np.dot(tile_a[ty], tile_b[:, tx])",
    )  # fmt: skip
    check("tiling", changed("tiling", product, ("from numba", "import numpy as np\nfrom numba")))
    assert [str(one.message) for one in recwarn if "np.dot" in str(one.message)] == []


def test_blocks_of_two_sizes_are_launched_at_the_shapes_that_fit():
    exercise = EXERCISES["dynamic_tiles"]
    assert [exercise.launch(shape).block[0] for shape in exercise.shapes[:2]] == [16, 8]
    for shape, side in zip(exercise.shapes, (16, 8)):
        assert exercise.launch(shape).shared_bytes == 2 * side * side * 4
        assert not any(size % side for size in shape)


@pytest.mark.parametrize("registers, shape", CALLS)
def test_the_launch_that_is_asked_for_computes_the_product(registers, shape):
    a, b = inputs(shape, seed=5)
    c, expected = np.zeros((shape[0], shape[1]), np.float32), best_launch(registers, shape)
    block = expected.side, expected.side
    traced = trace(dynamic_tiles, expected.grid, block, a, b, c, shared_bytes=expected.bytes_needed)
    assert not traced.findings
    assert np.array_equal(c, a @ b)


@pytest.mark.slow
def test_every_choice_of_bits_for_a_lane_is_judged_by_its_pairs():
    """A map is right if one of bits 0 and 1 belongs to `down` and the other to `across`."""
    for down in itertools.combinations(range(5), 2):
        across = [bit for bit in range(5) if bit not in down]
        places = (
            " | ".join(f"(lane >> {bit} & 1) << {at}" for at, bit in enumerate(bits))
            for bits in (down, across)
        )
        verdict = check("lane_map", changed("lane_map", *mapped(*places)))
        assert verdict.passed == ((0 in down) != (1 in down)), str(verdict)


def test_inputs_of_a_lane_map_are_different_primes():
    a, b = EXERCISES["lane_map"].inputs((3, 3), 5)
    assert len({*a, *b}) == 48 + 96
    np.testing.assert_array_equal(primes(8), [2, 3, 5, 7, 11, 13, 17, 19])
