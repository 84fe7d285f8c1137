"""The tiled product with its edges, where the reader writes the loop over the tiles."""

from labs.families.tiled import tiled_product

EXERCISE = tiled_product(
    tile=16,
    constant="TILE",
    whole=(2, 3, 5),
    name="tiling",
    lesson="07",
    title="The product by tiles",
    text=(
        "Each thread computes one element of `c`, as before. But now a block loads a tile of `a` "
        "and a tile of `b` into shared memory, each thread one element of either, and all threads "
        "of the block compute with both. Then come the next two tiles along k. About 12 lines.",
        "The launch is given: blocks of 16×16 threads, `x` for the columns of `c` and `y` for its "
        "rows, rounded up to whole blocks. No size need be a multiple of 16.",
    ),
    main=(
        "loads per multiply-add", "sectors per request", "wavefronts per request",
        "barriers per tile",
    ),
    plain_goals=(
        "a block loads each element of its tiles once", "at most 4 sectors per request",
        "no bank conflict", "at most 2 barriers per tile",
    ),
    plain_usual_goals=(
        "right at any shape", "each thread stores one element",
        "both factors of a multiply-add come from shared memory, by one load each",
        "whole warps load and read", "one store per element", "no float64",
    ),
    hints=(
        "The loop goes over the first index of each tile: `for start in range(0, k, TILE)`. In it, "
        "this thread loads an element of row `row` of `a`, and an element of column `col` of `b`. "
        "Neighbours in `tx` must read neighbours in memory.",
        "So `tile_a[ty, tx]` comes from `a[row, start + tx]`, and `tile_b[ty, tx]` from "
        "`b[start + ty, col]`. Either may lie outside of its matrix. What can stand in its place, "
        "so that it adds nothing?",
        "You are about to read what other threads have loaded. When is it there? And when may the "
        "next iteration replace it? `cuda.syncthreads()` lets the threads of a block wait for each "
        "other.",
        "All threads must come to every `cuda.syncthreads()`, also those without an element of "
        "`c`: they load for the others. So test `row` and `col` where you load and where you "
        "store, and do not return early.",
    ),
    after="Each element that a block loads from global memory now serves 16 of its threads.",
)  # fmt: skip
