"""The tiled product whose block size is chosen at the launch."""

from labs.families.dynamic_tiles import tiles_of_any_side

EXERCISE = tiles_of_any_side(
    name="dynamic_tiles",
    lesson="08",
    title="Two tiles in the memory of the launch",
    text=(
        "The product by tiles once more, for square blocks of any side. The kernel finds the side "
        "in `cuda.blockDim.x`, so one compiled kernel serves all of them. A shared array of size 0 "
        "stands for the memory that the launch asks for: here the bytes of two tiles, as one array "
        "with one index. The first half is for the tile of `a`, the second for the tile of `b`. "
        "About 12 lines.",
        "The launch is given: blocks of 16×16 threads where `c` has 1,000 elements or more, and of "
        "8×8 elsewhere; `x` for the columns of `c` and `y` for its rows, rounded up to whole "
        "blocks. (In CUDA C the side may lie in constant memory. Numba has "
        "`cuda.const.array_like`, but its values are fixed when the kernel is compiled; "
        "`cuda.blockDim` is what each launch puts into constant memory.)",
    ),
    hints=(
        "A tile is `side` rows of `side` elements, one row behind the other. Which element is row "
        "`ty`, column `tx`? Which is the first one behind the tile of `a`?",
        "Row `ty`, column `tx` is element `ty * side + tx`. The tile of `b` begins at element "
        "`side * side`, and all of its indices are that much larger.",
        "In the sum, `i` counts the columns of the tile of `a` and the rows of the tile of `b`: "
        "which of the two indices does it multiply by `side`?",
        "The barriers and the zeros at the edges are those of the exercise `tiling`: all threads "
        "load and wait, and only those with an element of `c` store.",
    ),
    after="One compiled kernel now serves every square block, and the launch chooses.",
)
