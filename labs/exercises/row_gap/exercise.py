"""A transposed tile whose stores conflict, until its rows get the right gap."""

from labs.checking.target import essential
from labs.families.turned_tiles import FEW_SECTORS, turned_tiles
from labs.targets.sharing import full_shared_requests
from labs.targets.stores import store_wavefronts

EXERCISE = turned_tiles(
    essential(store_wavefronts(1)),
    essential(full_shared_requests()),
    coalesced=essential(FEW_SECTORS),
    name="row_gap",
    lesson="13",
    kind="change",
    title="A gap behind each row",
    text=(
        "The kernel is right: it turns 128 rows of `x`, as in the task before. But each of the "
        "four stores into its tile takes two wavefronts. "
        "Change one line, so that a store takes one wavefront. `load4` must still find four words "
        "at a boundary of 16 bytes.",
        "The launch is given: one block of 256 threads for 128 rows of `x`.",
    ),
    main=("wavefronts per store to shared memory",),
    plain_goals=(
        "at most 1 wavefront per store to shared memory",
        "all else as it is: one barrier, wide loads, a wide store",
    ),
    hints=(
        "In one store lanes 0 and 1 write the same column, in rows `z` and `z + 4` of the tile. "
        "How many words are these two apart? What is the remainder if you divide by 32?",
        "Each 16 lanes with the same row fill 16 neighbouring banks. The others need the other 16.",
        "A row may be longer than the words that it holds. The number of its words must stay a "
        "multiple of four, and four rows must not be a multiple of 32 words.",
    ),
    after=(
        "A store into the tile now takes one wavefront instead of two. The smallest gap, four "
        "words in each of the 8 rows, costs 128 bytes of shared memory."
    ),
)
