"""The tiled product in which one tile of a serves two tiles of b."""

from labs.families.granularity import Granularity, coarsened_product

EXERCISE = coarsened_product(
    Granularity(tile=16, columns=2),
    constant="TILE",
    shapes=((80, 64, 112), (17, 82, 33), (20, 40, 7), (20, 10, 37)),
    name="two_tiles",
    lesson="10",
    title="One tile of a, two tiles of b",
    text=(
        "The launch has half as many blocks as before along `x`: a block of 16×16 threads now "
        "covers 16 rows and 32 columns of `c`. Each thread computes two elements of its row, "
        "16 columns apart.",
        "The kernel below is the tiled product for this launch, but it computes only the first of "
        "the two. Add the second: a second tile of `b`, and a second sum. The tile of `a` is "
        "loaded once and serves both. Give the second tile of `b` an array of its own: in one wide "
        "array, with rows of 32 words, lanes would meet in the same banks. About 7 new lines.",
    ),
    hints=(
        "The second tile of `b` has the same rows and begins 16 columns further on. Its "
        "array in shared memory is as large as `tile_b`: call it `tile_b1`.",
        "Column `col` can be inside of `b` and column `col + TILE` outside, so the second load and "
        "the second store need a test of their own.",
        "In the inner loop a thread needs one word of the tile of `a` and one of each tile of `b`. "
        "Read the word of `a` once, into a name, and use it in both sums.",
    ),
    after="Each word that a thread reads from the tile of `a` now serves two multiply-adds.",
)
