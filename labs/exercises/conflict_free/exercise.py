"""A transposed tile without bank conflicts."""

from dataclasses import replace

from labs.checking.target import essential
from labs.families.tiled import stays_transposed, tiled_product

PRODUCT = tiled_product(
    tile=32,
    constant="SIDE",
    whole=(3, 4, 2),
    name="conflict_free",
    lesson="07",
    kind="change",
    lines_to_change=1,
    title="Cure the bank conflicts",
    text=(
        "This product by tiles is right, and its global memory is in order. But the tile of `b` "
        "lies transposed in shared memory, and the lanes of a warp meet in the same banks. Let "
        "each request to shared memory take one wavefront.",
        "The two lines that store and read the transposed tile stay as they are. Change how the "
        "array lies in shared memory: one line changes, and about one line with a constant is new. "
        "The shape of a shared array is a number or the name of a constant, computed outside of "
        "the kernel. The launch is given: blocks of 32×32 threads.",
    ),
    main=("wavefronts per request",),
    plain_goals=("no bank conflict", "a tile stays transposed"),
    plain_usual_goals=(
        "right at any shape", "each element of a tile is loaded once",
        "at most 4 sectors per request", "at most 2 barriers per tile", "each thread stores one "
        "element", "both factors of a multiply-add come from shared memory, by one load each",
        "one store per element", "no float64",
    ),
    hints=(
        "A bank is 4 bytes wide, and there are 32. Element `w` of a shared array lies in bank `w` "
        "modulo 32. Which elements do lanes 0, 1 and 2 read at `i = 0`, and in which banks are "
        "they?",
        "Lane `tx` reads element `tx · 32 + i`: always bank `i`. How far apart must two rows lie, "
        "so that lanes 0 and 1 find different banks, and all others, too?",
        "A row may be longer than what is stored in it. The size of a shared array is a number or "
        "the name of a constant: define one above the kernel.",
    ),
    after="The lanes of a warp now find different banks, where they store and where they load.",
)  # fmt: skip
EXERCISE = replace(PRODUCT, targets=(*PRODUCT.targets, essential(stays_transposed())))
