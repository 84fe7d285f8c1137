"""A tile of rows that is stored transposed, with wide loads and one wide store."""

from labs.families.turned_tiles import turned_tiles

EXERCISE = turned_tiles(
    name="turned_tile",
    lesson="13",
    title="Turn a tile",
    text=(
        "`x` has `m` rows of 8 elements. `out` has 8 rows of `m`: store `x[i, z]` in `out[z, i]`. "
        "A block turns 128 rows of `x` by way of `tile` in shared memory, and `m` is a multiple "
        "of 128. Each of the 256 threads loads four elements of row `down` of its block, from "
        "column `z` on, and stores them in four rows of the tile. After the barrier it reads four "
        "neighbours of one row of the tile and stores them in `out`. About 5 lines.",
        "The launch is given: one block for 128 rows of `x`.",
    ),
    main=("narrow loads of global memory", "narrow stores of global memory"),
    plain_goals=(
        "each load and store of global memory moves 128 bits, with at most 16 sectors per request",
        "each read of shared memory moves 128 bits",
        "each thread stores 4 elements, by way of the tile",
    ),
    hints=(
        "In `x` the row of the thread is `first + down`. `load4` gives a tuple of four numbers, "
        "numbered from 0, and the place of the first is a tuple, too: row and column.",
        "The four numbers are neighbours in a row of `x`. In the tile they are below each other: "
        "a loop over `j` takes the rows from `z` on, and the column stays the same.",
        "After the barrier `z` and `across` are the row and the first column in the tile. In `out` "
        "the row is the same, and the columns of this block begin at `first`.",
    ),
    after="Two wide accesses to global memory and one wide read, but four stores into the tile.",
)
