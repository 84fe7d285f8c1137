"""The family of tiled products: c = a·b with tiles in shared memory, based on `product`.

A block of tile×tile threads computes one tile of c.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.phrasing import at_line, counted, rounded
from labs.checking.run import WORD, Run
from labs.checking.target import Probes, Target, essential
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
from labs.targets.sharing import (
    elements_per_thread,
    from_shared_memory,
    full_shared_requests,
    loads_by_all_threads,
)
from utils.division import cdiv
from utils.translation import translate
from virtual_gpu.common.source import read_source
from virtual_gpu.counts.counters import AccessCount


def tiled_product(
    tile: int, constant: str, whole: tuple[int, int, int], **fields
) -> KernelExercise:
    """Return an exercise on a product c = a·b with tiles of a and b in shared memory.

    tile: the side of a tile. constant: the starter's name for `tile`. whole: the numbers of tiles
    along m, n and k at the first shape, which has no partial tiles. They must all differ, and
    neither m nor n may be k - 1, so that a loop that ends at m or n is not mistaken for one that
    ends a tile early. fields: the remaining fields of KernelExercise.
    """
    split = Split(block=(tile, tile))
    shapes = (tuple(tile * count for count in whole), *_with_edges(tile), (1, 1, 1))
    exercise = product.matrix_product(split, shapes=shapes, targets=targets(tile), **fields)
    return replace(exercise, inputs=partial(inputs, tile), probes=probes(tile, constant))


def _with_edges(tile: int) -> tuple[Shape, ...]:
    """Return shapes (m, n, k) with partial tiles, with k = 7 and with infinities, in this order."""
    return (
        (tile + 1, 3 * tile + 2, 2 * tile + 1),
        (tile + 4, 2 * tile + 3, 7),
        with_infinities(tile),
    )


def with_infinities(tile: int) -> Shape:
    """Return the shape (m, n, k) for which `inputs` puts an infinity into a and another one into b.

    tile: the side of a tile.
    """
    return (tile + 2, tile + 3, tile + tile // 2)


def inputs(tile: int, shape: Shape, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return random matrices a, of shape (m, k), and b, of shape (k, n): whole numbers in float32.

    At the shape `with_infinities(tile)` all elements are positive, and a and b each hold an
    infinity in the first tile. If a kernel leaves it in shared memory when it loads the last,
    partial tile, it is multiplied by a zero and shows as NaN. tile: the side of a tile.
    """
    a, b = product.inputs(shape, seed)
    if shape == with_infinities(tile):
        a, b = np.abs(a) + 1, np.abs(b) + 1
        a[1, tile - 2] = b[tile - 1, 2] = np.inf
    return a, b


def targets(tile: int) -> tuple[Target, ...]:
    """Return the targets of a tiled product, in the order in which they are judged.

    tile: the side of a tile. All are counted at the first shape, which fits the tiles. Those on
    stores per element, float64, elements per thread, loads by all threads, bank conflicts and
    barriers are counted at every shape.
    """
    return (
        one_store_per_element(),
        no_float64(),
        replace(
            product.loads_per_multiply_add(2 / tile),
            words="a block loads each element of its tiles once",
            cause=partial(_loaded_again, tile),
        ),
        sectors_per_request(4),
        essential(full_requests()),
        essential(elements_per_thread(1)),
        essential(loads_by_all_threads(_words_of_a_thread, "a", "b")),
        essential(from_shared_memory(1)),
        essential(full_shared_requests()),
        no_bank_conflict(),
        _shared_loads(tile),
        barriers_per_tile(),
    )


def _words_of_a_thread(run: Run) -> int:
    """Return how many words a thread loads if each loads one word of every tile of a and b."""
    return 2 * cdiv(run.shape[2], run.job.launch(run.shape).block[0])


def _loaded_again(tile: int, run: Run, value: float) -> str:
    """Return sentences on the source line that loads most words of a or b, and how often it does.

    value: the measured count, which is not used.
    """
    loads = [one for name in ("a", "b") for one in run.accesses(name)]
    most = max(loads, key=lambda one: one.words)
    m, n, k = run.shape
    times = most.words * tile / (m * n * k)
    story = (
        f"{at_line(most.site)} loads every element of `{most.array}` that a block needs "
        f"{rounded(times)} times from global memory, and the target is once."
    )
    here = (one for one in run.trace.access_counts if one.site == most.site)
    if any((one.space, one.kind) == ("shared", "store") for one in here):
        return translate(
            "{story} Threads of a block load what others of them load, too.", story=story
        )
    if times < tile:
        return story
    return translate(
        "{story} That is a load for each multiply-add: what lies in shared memory is not used.",
        story=story,
    )


def no_bank_conflict() -> Target:
    """Return the target that no source line takes more than one wavefront per shared request."""
    return replace(wavefronts(1), words="no bank conflict", cause=_conflict)


def _conflict(run: Run, value: float) -> str:
    """Return sentences on the line with the most wavefronts per request, and on lanes that meet.

    value: the measured wavefronts per request of this line.
    """
    lines = [one for one in run.trace.access_counts if one.wavefronts > one.requests]
    worst = max(lines, key=lambda one: one.wavefronts / one.requests)
    return translate(
        "{where}: a {kind} of `{array}` takes {value:.3g} wavefronts per request. "
        "{meeting}{without_conflict}",
        where=at_line(worst.site),
        kind=worst.kind,
        array=worst.array,
        value=value,
        meeting=meeting(worst),
        without_conflict=_without_conflict(lines, run),
    )


def _without_conflict(conflicts: list[AccessCount], run: Run) -> str:
    """Return a sentence, after a space, that names the shared arrays with and without conflicts.

    Returns "" if all of them have conflicts. conflicts: the accesses with conflicts, per source
    line.
    """
    meeting = sorted({one.array for one in conflicts})
    shared = {one.array for one in run.trace.access_counts if one.space == "shared"}
    fine = sorted(shared.difference(meeting))
    if not fine:
        return ""
    names = (" and ".join(f"`{name}`" for name in group) for group in (fine, meeting))
    return " There are no conflicts in {}; all of them are in {}.".format(*names)


def _shared_loads(tile: int) -> Target:
    """Return the target of at most 2 loads from shared memory per multiply-add, counted per lane.

    tile: the side of a tile, for the sentence on a kernel that makes more.
    """

    def words(run: Run) -> int:
        counts = run.trace.access_counts
        return sum(o.lanes for o in counts if (o.space, o.kind) == ("shared", "load"))

    def measure(run: Run) -> float:
        m, n, k = run.shape
        return words(run) / (m * n * k)

    def cause(run: Run, value: float) -> str:
        k = run.shape[2]
        terms = value / 2 * k
        return translate(
            "each thread takes {terms:.4g} terms from the tiles, and its sum has k = {k}: that "
            "is {tiles} in place of {needed}. What the rest adds is zero.",
            terms=terms,
            k=k,
            tiles=counted(round(terms / tile), "tile"),
            needed=k // tile,
        )

    limit = "at most 2 loads from shared memory per multiply-add"
    return Target("shared loads per multiply-add", 2, limit, measure, cause)


def stays_transposed() -> Target:
    """Return the target that at least one tile is stored transposed in shared memory.

    That is a source line in whose first store lanes 0 and 1 store words that are not next to each
    other. The count is 1 if there is no such line, else 0.
    """

    def measure(run: Run) -> float:
        return float(not any(_is_transposed(one) for one in run.trace.access_counts))

    def cause(run: Run, value: float) -> str:
        return translate(
            "no tile is stored transposed any more: in every store to shared memory neighbouring "
            "lanes store neighbouring words. The two lines that store and read the transposed tile "
            "are to stay as they are."
        )

    return Target("missing transposed tiles", 0, "a tile stays transposed", measure, cause)


def _is_transposed(access: AccessCount) -> bool:
    """Return True for stores to shared memory in which lanes 0 and 1 store words that are apart.

    Only the first request of the source line is looked at. Both lanes must be active in it, and
    their words not be neighbours.
    """
    if (access.space, access.kind) != ("shared", "store") or not access.first:
        return False
    first, second = (int(address) for address in access.first[0][:2])
    return min(first, second) >= 0 and abs(second - first) > WORD


def barriers_per_tile() -> Target:
    """Return the target that each thread passes at most 2 barriers per tile along k.

    The count is an average over all warps and tiles, at every shape. The side of a tile is the
    number of threads of a block along x.
    """

    def measure(run: Run) -> float:
        launch = run.job.launch(run.shape)
        warps = launch.blocks * cdiv(launch.threads, 32)
        passed = sum(line.barriers for line in run.trace.counts.values())
        return passed / warps / cdiv(run.shape[2], launch.block[0])

    def cause(run: Run, value: float) -> str:
        lines = {site: one.barriers for site, one in run.trace.counts.items() if one.barriers}
        most = max(lines, key=lines.get)
        if len(set(lines.values())) == 1:
            return translate(
                "a thread passes {value:.3g} barriers per tile, and the target is 2. They are in "
                "lines {lines}.",
                value=value,
                lines=", ".join(str(site.line) for site in lines),
            )
        return translate(
            "a thread passes {value:.3g} barriers per tile, and the target is 2. Most of them "
            "stand at {where}.",
            value=value,
            where=at_line(most),
        )

    return Target("barriers per tile", 2, "at most 2 barriers per tile", measure, cause, True)


def probes(tile: int, constant: str) -> Probes:
    """Return the probes of a tiled product: for the tile constant, computed sizes and wrong values.

    constant: the starter's name for the side of a tile, such as "TILE".
    """
    constants = (partial(_other_side, tile, constant),)
    return Probes(constants=constants, refused=(computed_size,), wrong=WRONG_PRODUCTS)


# ------------------------------------------------------------------- constants that do not fit


def _other_side(tile: int, constant: str, kernel) -> str | None:
    """Return a sentence if the constant in the reader's file is not the side of a block, else None.

    constant: its name. Also returns None if the kernel does not use this name, or if its value is
    not a whole number. tile: the side of a tile and of a block.
    """
    code = kernel.py_func.__code__
    side = read_source(kernel.py_func).names.get(constant)
    uses = constant in code.co_names + code.co_freevars
    if not uses or not isinstance(side, int) or side == tile:
        return None
    return translate(
        "This launch has blocks of {tile}×{tile} threads, and your `{constant}` is {side}. "
        "Each thread loads one element of a tile, so a tile is as wide and as high as the "
        "block.",
        tile=tile,
        constant=constant,
        side=side,
    )
