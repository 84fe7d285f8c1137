"""The loads of one fragment, and the stores of the sums, for one mma of a warp."""

from labs.checking.job import in_steps
from labs.checking.target import essential
from labs.families.warp_products import loads_per_mma, one_mma_per_tile, warp_product
from labs.targets.counts import no_float64, no_negative_index, one_store_per_element

EXERCISE = warp_product(
    name="one_mma",
    lesson="22",
    title="One fragment in, one fragment out",
    text=(
        "Each warp multiplies 16 rows of `a` by 8 columns of `b` and stores 16×8 elements of `c`, "
        "with one `mma_m16n8k8`. Its rows begin at `row`, and its columns at `col`. The fragment "
        "of `b` is loaded already. Load that of `a`, and store the sums.",
        "The launch is given: blocks of 32 threads, which are one warp, and one block for every "
        "16×8 of `c`. Every shape fits: m is a multiple of 16, n of 8, and k is 8.",
    ),
    shapes=((48, 16, 8), (16, 40, 8), (32, 24, 8), (16, 8, 8)),
    vary=in_steps(16, 8, 8),
    whole=in_steps(16, 8, 8),
    targets=(
        no_negative_index(), one_store_per_element(), no_float64(),
        essential(one_mma_per_tile()), essential(loads_per_mma()),
    ),
    main=("mma missing or too many", "loads per mma"),
    hints=(
        "Drag through lanes 0 to 7 in the picture. What happens to the row of a square numbered 0 "
        "after every fourth lane? And to its column within the four?",
        "`group` and `pair` are what you have just seen. Now stay at one lane and go from square 0 "
        "to 1, and from 1 to 2. What is added to the column, and what to the row?",
        "The squares of `c` lie as those of `a` do. Only the corner is another one: `a` begins at "
        "`(row, 0)`, and `c` at `(row, col)`.",
    ),
    after="One instruction did 1,024 multiply-adds, with four sums per lane.",
)  # fmt: skip
