"""The lines of a loop that loads the next tile before it multiplies this one, in disorder."""

from dataclasses import replace

from labs.checking.line_order import OrderExercise, OrderRule
from labs.families.double_buffering import no_early_waits
from labs.families.tiled import tiled_product

_PRODUCT = tiled_product(
    tile=16,
    constant="TILE",
    whole=(2, 3, 5),
    record=OrderExercise,
    name="order_loads",
    lesson="14",
    title="Load before you multiply",
    text=(
        "The product by tiles of lesson 07, with room for one tile of each matrix. A thread keeps "
        "its elements of the next tile in the registers `next_a` and `next_b`. Lines i and j load "
        "those of the first tile. Put the lines of the loop in order, so that the next tile is on "
        "its way while this one is multiplied; two of them are too many. The answer is a list of "
        "line numbers.",
        "The launch is given: blocks of 16×16 threads. No size need be a multiple of 16.",
    ),
    main=("loads that are waited for",),
    plain_goals=(
        "the next tile is on its way during all multiply-adds of this one",
        "at most two barriers per tile",
    ),
    plain_usual_goals=(
        "right at any shape", "a block loads each element of its tiles once",
        "no bank conflict", "full sectors", "one store per element", "no float64",
    ),
    above="""
from numba import cuda, float32, uint32

TILE = 16


@cuda.jit
def order_loads(a, b, c):
    (m, k), n = a.shape, b.shape[1]
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    row = uint32(cuda.blockIdx.y * TILE + ty)
    col = uint32(cuda.blockIdx.x * TILE + tx)
    total = float32(0)
    start = uint32(0)
    next_a = a[row, tx] if row < m and tx < k else float32(0)
    next_b = b[ty, col] if ty < k and col < n else float32(0)
    while start < k:
""",
    below="""
    if row < m and col < n:
        c[row, col] = total
""",
    lines=(
        "            total += tile_a[ty, i] * tile_b[i, tx]",
        "        cuda.syncthreads()",
        "        next_a = a[row, start + tx] if row < m and start + tx < k else float32(0)",
        "            cuda.syncthreads()",
        "        tile_a[ty, tx], tile_b[ty, tx] = next_a, next_b",
        "        for i in range(TILE):",
        "        start = uint32(start + TILE)",
        "        next_b = b[start + ty, col] if start + ty < k and col < n else float32(0)",
        "        start = uint32(start + 1)",
        "        cuda.syncthreads()",
    ),
    rules=(
        OrderRule(4, "Line 4 is a barrier in the inner loop: a thread would pass one barrier for "
                  "each term of its sum."),
        OrderRule(9, "Line 9 goes on by one element, and a tile has 16."),
        OrderRule(1, "Line 1 uses `i`, and no loop over `i` is above it.", after=(6,)),
        OrderRule(1, "Line 1 reads the tiles before any line has stored them.", after=(5,)),
        OrderRule(1, "Line 1 reads words that other threads have stored in line 5, and no barrier "
                  "is above it.", after=(2, 10)),
        OrderRule(3, "Line 3 loads at `start`, which still is the beginning of this iteration's "
                  "tile.", after=(7,)),
        OrderRule(8, "Line 8 loads at `start`, which still is the beginning of this iteration's "
                  "tile.", after=(7,)),
        OrderRule(3, "Line 3 replaces the element in `next_a` before line 5 has stored it.",
                  after=(5,)),
        OrderRule(8, "Line 8 replaces the element in `next_b` before line 5 has stored it.",
                  after=(5,)),
    ),
    hints=(
        "An iteration begins with the elements of its tile in `next_a` and `next_b`. Which line "
        "frees these registers, so that they can take the elements of the next tile?",
        "A load makes nobody wait. Which line is the first that needs the loaded elements, and "
        "what can a thread do until then?",
        "One barrier is between the stores and the reads of this tile. The other one is between "
        "the reads of this tile and the stores of the next.",
    ),
    after="One buffer is enough to load early: the registers hold the next tile until it may be "
    "stored. The compiler may still move a load down, which the lesson looks at after its next "
    "task.",
)  # fmt: skip
EXERCISE = replace(_PRODUCT, targets=(*_PRODUCT.targets, no_early_waits(16)))
