"""The tiled product with a quarter of the threads, each with four independent sums."""

from labs.families.granularity import Granularity, coarsened_product

EXERCISE = coarsened_product(
    Granularity(tile=32, rows=4),
    constant="TILE",
    shapes=((64, 96, 160), (41, 35, 77), (5, 70, 7)),
    name="independent_sums",
    lesson="11",
    title="Four independent sums",
    text=(
        "The blocks now have 32×8 threads, a quarter of those before. The tiles still have 32×32 "
        "elements, and a block still computes 32×32 elements of `c`. So each thread computes four "
        "elements of a column of `c`, and fills four elements of each tile.",
        "The kernel below is the tiled product for one element. Compute four instead of one: "
        "about 10 lines change. Which four rows of the tile a thread takes is yours to choose.",
    ),
    hints=(
        "What the kernel does once with `ty` and `row`, yours does four times, with `ty + 8 * g` "
        "and `row + 8 * g`. `for g in range(4)` around the loads, the sums and the stores does it.",
        "Four sums: four names, or an array of `cuda.local.array` for four float32, which each "
        "thread has for itself. A loop sets each of them to zero before the loop over the tiles.",
        "In a step of the sums the four elements lie in one column, so they need only one word of "
        "the tile of `b`. Read it before the loop over `g`, into a name.",
        "Row `row` can be inside of `c` and row `row + 8` outside. Test each row by itself, where "
        "you load `a` and where you store.",
    ),
    main=("elements per thread", "shared reads per multiply-add"),
    plain_goals=(
        "each thread computes 4 elements of `c`",
        "at most 1.25 reads from shared memory per multiply-add",
    ),
    plain_usual_goals=(
        "right at any shape",
        "a block loads each element of its tiles once, with full warps",
        "at most 2 barriers per tile, no bank conflict",
        "one store per element, no float64",
    ),
    after="Each word that a thread reads from the tile of `b` now serves four multiply-adds.",
)
