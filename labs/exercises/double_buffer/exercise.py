"""The tiled product with two buffers in shared memory, and one barrier per tile."""

from labs.families.double_buffering import double_buffered_product

EXERCISE = double_buffered_product(
    tile=16,
    constant="TILE",
    whole=(2, 3, 5),
    name="double_buffer",
    lesson="14",
    title="Two sides, one barrier",
    text=(
        "The kernel is the product by tiles of lesson 07, and its result is right. But each turn "
        "loads a tile, waits for it, and then multiplies it. Change it: a turn multiplies the tile "
        "that is there, while the next tile is on its way. Each shared array gets two sides, of "
        "which one is read while the other is filled. About 16 lines.",
        "The launch is given: blocks of 16×16 threads, `x` for the columns of `c` and `y` for its "
        "rows. No size need be a multiple of 16, and the number of tiles may be odd.",
    ),
    hints=(
        "`cuda.shared.array((2, TILE, TILE), float32)` has two sides. A variable, say `side`, is 0 "
        "or 1 and changes in each turn. Before the loop the first tile goes into side 0, and a "
        "barrier follows.",
        "A load does not make a thread wait, and the store of the loaded value into shared memory "
        "does. So a turn has three parts: load the elements of the next tile into two variables; "
        "add the terms of this tile; store the two variables into the other side.",
        "Which tile does a turn need, and which does it load? The last turn has nothing to load: "
        "test it, or let it store zeros that nobody reads. And the last tile must be multiplied, "
        "too.",
        "One barrier at the end of a turn does two things. The next tile is complete. And all "
        "threads are done with the side that was read, which is the one that the next turn fills.",
    ),
    after=(
        "A load now has the multiply-adds of a whole tile for its way, in the source. Where the "
        "compiler puts it the lesson looks at next."
    ),
)
