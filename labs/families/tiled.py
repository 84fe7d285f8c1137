"""The family of tiled products: c = a·b by tiles in shared memory, on top of `product`.

A block of tile×tile threads computes a tile of c.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import at_line, counted
from labs.checking.run import Run
from labs.checking.target import Probes, Target
from labs.families import product
from labs.families.product import Split
from labs.families.shared_memory import (
    computed_size,
    meeting,
)
from labs.families.wrong_products import WRONG_PRODUCTS
from labs.targets.counts import (
    full_requests,
    no_float64,
    one_store_per_element,
    sectors_per_request,
)
from labs.targets.counts import wavefronts_per_request as wavefronts
from virtual_gpu.common.source import read_source
from virtual_gpu.counts.counters import AccessCount


def tiled_product(tile: int, constant: str, whole: tuple[int, int, int], **told) -> KernelExercise:
    """An exercise of this family.

    constant: the starter's name for `tile`. whole: how many tiles m, n and k are long at the shape
    that fits. All three differ, and m and n from k - 1, so that a loop that ends at m or n is not
    taken for one that ends a tile early.
    told: the fields of KernelExercise that the family leaves open.
    """
    split = Split(block=(tile, tile))
    shapes = (tuple(tile * count for count in whole), *_with_edges(tile), (1, 1, 1))
    exercise = product.matrix_product(split, shapes=shapes, targets=targets(tile), **told)
    return replace(exercise, inputs=partial(inputs, tile), probes=probes(tile, constant))


def _with_edges(tile: int) -> tuple[Shape, ...]:
    """Edges on all sides; a sum that is shorter than a tile; infinities."""
    return (
        (tile + 1, 3 * tile + 2, 2 * tile + 1),
        (tile + 4, 2 * tile + 3, 7),
        with_infinities(tile),
    )


def with_infinities(tile: int) -> Shape:
    return (tile + 2, tile + 3, tile + tile // 2)


def inputs(tile: int, shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers. At one shape a and b are above 0 and hold an infinity each, in the first tile.

    What is left of it in the last tile, which is not full, then meets a zero and shows as NaN.
    """
    a, b = product.inputs(shape, seed)
    if shape == with_infinities(tile):
        a, b = np.abs(a) + 1, np.abs(b) + 1
        a[1, tile - 2] = b[tile - 1, 2] = np.inf
    return a, b


def targets(tile: int) -> tuple[Target, ...]:
    """What a product by tiles must reach, at the shape that fits."""
    return (
        one_store_per_element(),
        no_float64(),
        replace(
            product.loads_per_multiply_add(2 / tile),
            words="a block loads each element of its tiles once",
            cause=partial(_loaded_again, tile),
        ),
        sectors_per_request(4),
        full_requests(),
        no_bank_conflict(),
        _shared_loads(tile),
        barriers_per_tile(tile),
    )


def _loaded_again(tile: int, seen: Run, value: float) -> str:
    """Elements are loaded more than once by a block."""
    loads = [one for name in ("a", "b") for one in seen.accesses(name)]
    most = max(loads, key=lambda one: one.words)
    m, n, k = seen.shape
    times = most.words * tile / (m * n * k)
    story = (
        f"{at_line(most.site)} loads every element of `{most.array}` that a block needs "
        f"{times:.3g} times from global memory, and the target is once."
    )
    here = (one for one in seen.trace.access_counts if one.site == most.site)
    if any((one.space, one.kind) == ("shared", "store") for one in here):
        return f"{story} Threads of a block load what others of them load, too."
    if times < tile:
        return story
    return f"{story} That is a load for each multiply-add: what lies in shared memory is not used."


def no_bank_conflict() -> Target:
    """Each request to shared memory takes one wavefront."""
    return replace(wavefronts(1), words="no bank conflict", cause=_conflict)


def _conflict(seen: Run, value: float) -> str:
    """Lanes that ask one bank for different words."""
    lines = [one for one in seen.trace.access_counts if one.wavefronts > one.requests]
    worst = max(lines, key=lambda one: one.wavefronts / one.requests)
    return (
        f"{at_line(worst.site)}: a {worst.kind} of `{worst.array}` takes {value:.3g} wavefronts "
        f"per request. {meeting(worst)}{_without_conflict(lines, seen)}"
    )


def _without_conflict(conflicts: list[AccessCount], seen: Run) -> str:
    """Which shared array is in order, where one is and another is not."""
    meeting = sorted({one.array for one in conflicts})
    shared = {one.array for one in seen.trace.access_counts if one.space == "shared"}
    fine = sorted(shared.difference(meeting))
    if not fine:
        return ""
    names = (" and ".join(f"`{name}`" for name in group) for group in (fine, meeting))
    return " There are no conflicts in {}; all of them are in {}.".format(*names)


def _shared_loads(tile: int) -> Target:
    """Loads of shared memory for each multiply-add."""

    def words(seen: Run) -> int:
        counts = seen.trace.access_counts
        return sum(o.lanes for o in counts if (o.space, o.kind) == ("shared", "load"))

    def measure(seen: Run) -> float:
        m, n, k = seen.shape
        return words(seen) / (m * n * k)

    def cause(seen: Run, value: float) -> str:
        k = seen.shape[2]
        terms = value / 2 * k
        return (
            f"each thread takes {terms:.4g} terms from the tiles, and its sum has k = {k}: that is "
            f"{counted(round(terms / tile), 'tile')} in place of {k // tile}. What the rest adds "
            "is zero."
        )

    limit = "at most 2 loads from shared memory per multiply-add"
    return Target("shared loads per multiply-add", 2, limit, measure, cause)


def barriers_per_tile(tile: int) -> Target:
    """Barriers that each thread passes for each tile along k."""

    def measure(seen: Run) -> float:
        launch = seen.job.launch(seen.shape)
        warps = launch.blocks * -(-launch.threads // 32)
        passed = sum(line.barriers for line in seen.trace.counts.values())
        return passed / warps / (seen.shape[2] // tile)

    def cause(seen: Run, value: float) -> str:
        lines = {site: one.barriers for site, one in seen.trace.counts.items() if one.barriers}
        most = max(lines, key=lines.get)
        return (
            f"a thread passes {value:.3g} barriers per tile, and the target is 2. Most of them "
            f"stand at {at_line(most)}."
        )

    return Target("barriers per tile", 2, "at most 2 barriers per tile", measure, cause)


def probes(tile: int, constant: str) -> Probes:
    """Return what the text of a tiled product shows. constant: the starter's name for the tile."""
    constants = (partial(_other_side, tile, constant),)
    return Probes(constants=constants, refused=(computed_size,), wrong=WRONG_PRODUCTS)


# -------------------------------------------------------------------- what does not fit the launch


def _other_side(tile: int, constant: str, kernel) -> str | None:
    """The reader's constant is not the side of a block."""
    code = kernel.py_func.__code__
    side = read_source(kernel.py_func).names.get(constant)
    uses = constant in code.co_names + code.co_freevars
    if not uses or not isinstance(side, int) or side == tile:
        return None
    return (
        f"This launch has blocks of {tile}×{tile} threads, and your `{constant}` is {side}. Each "
        "thread loads one element of a tile, so a tile is as wide and as high as the block."
    )


# ----------------------------------------------------------------- what the virtual GPU has found


# ----------------------------------------------------------------- elements that nobody has written
