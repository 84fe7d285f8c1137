"""The family of products whose block size the launch decides: two tiles in one array.

The launch asks for the bytes of both tiles, and the kernel finds the side in `cuda.blockDim`.
Blocks of two sizes are launched, so a number that fits one of them alone is wrong with the other.
What goes wrong is in `labs.half_probes`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random

from labs import products, tiles
from labs.exercise import Exercise, Shape, Target, nearby
from labs.half_probes import arrays_of_their_own, probes, with_one_word_less
from labs.run import WORD, Run
from utils.ladder.step import Launch

LARGE, SMALL = 16, 8
MANY = 1000  # elements of c from which on blocks are large
# The first fits large blocks and the second small ones; then edges, a short sum, infinities, ones.
SHAPES = (
    (32, 48, 80),
    (24, 40, 16),
    (33, 50, 37),
    (17, 21, 13),
    (20, 51, 7),
    tiles.with_infinities(SMALL),
    (1, 1, 1),
)


def tiles_of_any_side(**told) -> Exercise:
    """An exercise of this family; `told` are the fields of Exercise that it leaves open."""
    split = products.Split(block=(LARGE, LARGE))
    exercise = products.matrix_product(
        split, shapes=SHAPES, targets=(*tiles.targets(LARGE), _in_the_launchs_memory()), **told
    )
    return replace(
        exercise,
        launch=launch,
        inputs=partial(tiles.inputs, SMALL),
        probes=probes((LARGE, SMALL), exercise.probes),
        vary=other_sizes,
    )


def launch(shape: Shape) -> Launch:
    """Square blocks that cover c, and the bytes of two tiles for each."""
    m, n, _ = shape
    side = LARGE if m * n >= MANY else SMALL
    covering = products.Split(block=(side, side)).launch(shape)
    return replace(covering, shared_bytes=2 * side * side * WORD)


def other_sizes(shape: Shape, random: Random) -> Shape:
    """Nearby sizes; those that fit the blocks stay."""
    return shape if all(size % SMALL == 0 for size in shape) else nearby(shape, random)


def _in_the_launchs_memory() -> Target:
    """With one word less than two tiles a kernel that keeps both there must leave the memory."""

    def measure(seen: Run) -> float:
        return float(with_one_word_less(seen))

    def cause(seen: Run, value: float) -> str:
        return (
            "the tiles do not lie in the memory that the launch asks for: the kernel needs less of "
            f"it than two tiles.{arrays_of_their_own(seen)}"
        )

    words = "both tiles in the memory that the launch asks for"
    return Target("tiles in other memory", 0, words, measure, cause)
