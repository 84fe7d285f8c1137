"""The product with four rows per thread: four steps of k per iteration, and fewer instructions."""

from dataclasses import replace

from labs.families.granularity import Granularity, coarsened_product
from labs.targets.loop_unrolling import iterations_per_multiply_add
from labs.targets.tile_loop import instructions_with_tiles, read_wavefronts

_GRANULARITY = Granularity(tile=32, rows=4)
_PRODUCT = coarsened_product(
    _GRANULARITY,
    constant="TILE",
    shapes=((64, 96, 160), (41, 35, 77), (5, 70, 7)),
    name="four_steps",
    lesson="11",
    title="Four steps of k at a time",
    text=(
        "Begin with the product with four rows per thread, such as your right `independent_sums`. "
        "One iteration of its innermost loop takes one step of k. Let it take four steps, so that "
        "one `LDS.128` reads four neighbours of a row of `tile_a`. Then let the machine code "
        "compute fewer indices. About 7 lines change.",
    ),
    hints=(
        "Two nested loops: the outer one goes from 0 to `TILE` in steps of 4, the inner one is "
        "over `range(4)`. Their sum is the step that `i` was before.",
        "An `LDS.128` needs an address that is a multiple of 16 bytes. `cuda.shared.array` has an "
        "argument `alignment`.",
        "An index of type `uint32` cannot be negative, so the machine code need not ask. Which "
        "two names are in each index of the innermost loop?",
    ),
    after="Four steps share the index of one read, and no index asks whether it is negative.",
)
_STEPS = (
    iterations_per_multiply_add(0.1, work=_GRANULARITY.work),
    read_wavefronts(0.8125),
    instructions_with_tiles(3.5),
)
EXERCISE = replace(
    _PRODUCT,
    targets=(*_PRODUCT.targets, *_STEPS),
    main=tuple(target.what for target in _STEPS),
    plain_goals=tuple(target.words for target in _STEPS),
    plain_usual_goals=("right at any shape", "reads, barriers and stores stay as they are"),
)
