"""The tiled product with two buffers in shared memory, and one barrier per tile."""

from labs.families.double_buffering import double_buffered_product

EXERCISE = double_buffered_product(
    tile=16,
    constant="TILE",
    whole=(2, 3, 5),
    name="double_buffer",
    lesson="14",
    title="Two buffers, one barrier",
    text=(
        "The kernel is the product by tiles of lesson 07, and its result is right. But each "
        "iteration loads a tile, waits for it, and then multiplies it. Change it: an iteration "
        "multiplies its tile while the next one is on its way. Each shared array gets two buffers, "
        "of which one is read and the other is filled. About 16 lines.",
        "The launch is given: blocks of 16×16 threads, `x` for the columns of `c` and `y` for its "
        "rows. No size need be a multiple of 16. The number of tiles may be odd, and no tile of "
        "zeros is multiplied after the last one.",
    ),
    main=("barriers per tile", "loads that are waited for"),
    plain_goals=(
        "one barrier per tile, and at most one more",
        "the next tile is on its way during all multiply-adds of this one",
    ),
    plain_usual_goals=(
        "right at any shape", "a block loads each element of its tiles once",
        "no bank conflict", "full sectors", "one store per element", "no float64",
    ),
    hints=(
        "`cuda.shared.array((2, TILE, TILE), float32)` has two buffers. A variable, say `side`, is "
        "0 or 1 and changes in each iteration. Before the loop the first tile goes into buffer 0, "
        "and a barrier follows.",
        "A load does not make a thread wait, and the store of the loaded value into shared memory "
        "does. So an iteration has three parts: load the elements of the next tile into two "
        "variables; add the terms of this tile; store the two variables into the other buffer.",
        "Which tile does an iteration need, and which does it load? The last iteration has nothing "
        "to load: test it, or let it store zeros that nobody reads. And the last tile must be "
        "multiplied, too.",
        "One barrier at the end of an iteration does two things. The next tile is complete. And "
        "all threads are done with the buffer that was read, which the next iteration fills.",
    ),
    after=(
        "In the source a load now has the multiply-adds of a whole tile to arrive. The lesson "
        "looks next at where the compiler puts it."
    ),
)  # fmt: skip
