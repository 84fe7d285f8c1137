"""The family of products whose block size the launch decides: two tiles in one array.

The launch asks for the bytes of both tiles, and the kernel finds the side in `cuda.blockDim`.
Blocks of two sizes are launched, so a number that fits one of them alone is wrong with the other.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial
from random import Random

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape, nearby
from labs.checking.run import WORD, Run, run
from labs.checking.target import Probes, Target
from labs.families import product
from labs.families import tiled as tiles
from labs.families.product import Split
from labs.families.shared_memory import calls
from labs.families.wrong_products import WRONG_PRODUCTS
from utils.ladder.step import Launch
from virtual_gpu import VirtualGpuError

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


def tiles_of_any_side(**told) -> KernelExercise:
    """An exercise of this family; `told` are the fields of KernelExercise that it leaves open."""
    split = Split(block=(LARGE, LARGE))
    exercise = product.matrix_product(
        split, shapes=SHAPES, targets=(*tiles.targets(LARGE), _in_the_launchs_memory()), **told
    )
    return replace(
        exercise,
        launch=launch,
        inputs=partial(tiles.inputs, SMALL),
        probes=Probes(refused=(size_of_the_launch,), wrong=WRONG_PRODUCTS),
        vary=other_sizes,
    )


def launch(shape: Shape) -> Launch:
    """Square blocks that cover c, and the bytes of two tiles for each."""
    m, n, _ = shape
    side = LARGE if m * n >= MANY else SMALL
    covering = Split(block=(side, side)).launch(shape)
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


# --------------------------------------------------------------- where the tiles lie in the memory


def with_one_word_less(seen: Run) -> bool:
    """Whether the kernel goes right with one word of shared memory less than the launch gives."""

    def shorter(shape: Shape):
        given = seen.job.launch(shape)
        return replace(given, shared_bytes=given.shared_bytes - WORD)

    try:
        again = run(replace(seen.job, launch=shorter), seen.kernel, seen.shape, seen.patience)
    except VirtualGpuError:
        return False
    return not again.wrong.any() and all(one.is_warning for one in again.trace.findings)


def arrays_of_their_own(seen: Run) -> str:
    """The shared arrays whose size stands in the kernel, as a sentence; "" where none does."""
    sized = [call for call in calls(seen, "array") if not _of_the_launch(call)]
    own = [call for call in sized if ast.unparse(call.func).endswith("shared.array")]
    if not own:
        return ""
    lines = " and ".join(str(call.lineno) for call in own)
    return f" The size of a shared array stands in line {lines}. A size of 0 means: the launch's."


def _of_the_launch(call: ast.Call) -> bool:
    return bool(call.args) and ast.unparse(call.args[0]) in ("0", "(0,)")


def size_of_the_launch(kernel, message: str) -> str | None:
    """A size that only the launch knows."""
    if "a shape that is neither a number" not in message:
        return None
    return (
        "What the launch decides is not known when the kernel is compiled. An array of size 0 is "
        "the memory that the launch asks for, however much that is."
    )


# ----------------------------------------------------------------------- what the launch decides
