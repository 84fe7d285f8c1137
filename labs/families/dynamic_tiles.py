"""The family of products whose launch decides the block size, with both tiles in one shared array.

The launch asks for the bytes of both tiles, and the kernel reads the tile side from
`cuda.blockDim`. Blocks of two sizes are launched, so a constant that fits one size is wrong with
the other.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import partial
from random import Random

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape, nearby
from labs.checking.run import WORD, Run, run_kernel
from labs.checking.target import Probes, Target
from labs.families import product
from labs.families import tiled as tiles
from labs.families.product import Split
from labs.families.shared_memory import calls
from labs.families.wrong_products import WRONG_PRODUCTS
from utils.ladder.step import Launch
from utils.translation import translate
from virtual_gpu import VirtualGpuError

LARGE, SMALL = 16, 8
MANY = 1000  # blocks are large if c has at least this number of elements
# The first fits large blocks and the second small ones. The others have partial tiles, a short sum,
# infinities, and one element.
SHAPES = (
    (32, 48, 80),
    (24, 40, 16),
    (33, 50, 37),
    (17, 21, 13),
    (20, 51, 7),
    tiles.with_infinities(SMALL),
    (1, 1, 1),
)


def tiles_of_any_side(**fields) -> KernelExercise:
    """Return an exercise on a tiled product whose launch decides the side of the tiles.

    fields: the remaining fields of KernelExercise.
    """
    split = Split(block=(LARGE, LARGE))
    exercise = product.matrix_product(
        split, shapes=SHAPES, targets=(*tiles.targets(LARGE), _in_the_launchs_memory()), **fields
    )
    return replace(
        exercise,
        launch=launch,
        inputs=partial(tiles.inputs, SMALL),
        probes=Probes(refused=(size_of_the_launch,), wrong=WRONG_PRODUCTS),
        vary=other_sizes,
    )


def launch(shape: Shape) -> Launch:
    """Return a launch of square blocks that cover c, with shared memory for two tiles per block.

    The side of a block is 16 if c has at least 1000 elements, else 8. The grid is (blocks along n,
    blocks along m). shape: (m, n, k).
    """
    m, n, _ = shape
    side = LARGE if m * n >= MANY else SMALL
    covering = Split(block=(side, side)).launch(shape)
    return replace(covering, shared_bytes=2 * side * side * WORD)


def other_sizes(shape: Shape, random: Random) -> Shape:
    """Return a shape of random sizes near this one, or this shape if 8 divides all its sizes."""
    return shape if all(size % SMALL == 0 for size in shape) else nearby(shape, random)


def _in_the_launchs_memory() -> Target:
    """Return the target that both tiles are in the dynamic shared memory that the launch asks for.

    The kernel is launched again with one word less of it. The count is 1 if the kernel is right
    nevertheless, so that at least one tile is elsewhere, or if the result depends on a shared array
    of a fixed size, else 0.
    """

    def measure(run: Run) -> float:
        return float(with_one_word_less(run) or _uses_other_arrays(run))

    def cause(run: Run, value: float) -> str:
        return translate(
            "the tiles do not lie in the memory that the launch asks for: the kernel uses "
            "less of it than two tiles.{more}",
            more=arrays_of_their_own(run),
        )

    words = "both tiles in the memory that the launch asks for"
    return Target("tiles in other memory", 0, words, measure, cause)


# ------------------------------------------------------------------------- shared memory of tiles


def _resized(run: Run, more: int) -> Run:
    """Launch the kernel again with `more` additional bytes of shared memory; return the run.

    The events of block 0 are recorded. more: may be negative.
    """

    def launch(shape: Shape):
        """Return the launch for a shape with the other number of bytes."""
        launch = run.job.launch(shape)
        return replace(launch, shared_bytes=launch.shared_bytes + more)

    job = replace(run.job, launch=launch)
    return run_kernel(job, run.kernel, run.shape, run.patience, record=0)


def _uses_other_arrays(run: Run) -> bool:
    """Return True if the result depends on a shared array whose size the launch does not decide."""
    before, after = run.drawn.trace.recording.arrays, _resized(run, WORD).trace.recording.arrays
    fixed = {(one.name, one.shape) for one in before} & {(one.name, one.shape) for one in after}
    return any(run.used_shares.get(name) for name, _ in fixed)


def with_one_word_less(run: Run) -> bool:
    """Launch the kernel again with 4 bytes of shared memory less; return True if it is right.

    Return False if the launch fails, if a value is wrong or if the virtual GPU finds a flaw.
    """
    try:
        again = _resized(run, -WORD)
    except VirtualGpuError:
        return False
    return not again.wrong.any() and all(one.is_warning for one in again.trace.findings)


def arrays_of_their_own(run: Run) -> str:
    """Return a sentence, after a space, on lines with shared arrays of a fixed size, or ""."""
    sized = [call for call in calls(run, "array") if not _of_the_launch(call)]
    own = [call for call in sized if ast.unparse(call.func).endswith("shared.array")]
    if not own:
        return ""
    lines = " and ".join(str(call.lineno) for call in own)
    return translate(
        " The size of a shared array stands in line {lines}. A size of 0 means: the launch's.",
        lines=lines,
    )


def _of_the_launch(call: ast.Call) -> bool:
    """Return True if the first positional argument of a call is 0 or (0,).

    For a call of `cuda.shared.array` that means an array in the dynamic shared memory, whose size
    the launch sets. The name of the called function is not tested.
    """
    return bool(call.args) and ast.unparse(call.args[0]) in ("0", "(0,)")


def size_of_the_launch(kernel, message: str) -> str | None:
    """Return a sentence if a shared array has a size that only the launch knows, else None.

    message: the error message of the kernel, which cannot be compiled.
    """
    if "a shape that is neither a number" not in message:
        return None
    return translate(
        "What the launch decides is not known when the kernel is compiled. An array of size 0 "
        "is the memory that the launch asks for, however much that is."
    )
