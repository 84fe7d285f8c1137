"""A tile of a in shared memory, stored and read by ldmatrix without bank conflicts."""

from labs.checking.job import in_steps
from labs.checking.phrasing import at_line
from labs.checking.run import Run
from labs.checking.target import Target, essential
from labs.families.warp_products import (
    ldmatrix_per_mma,
    one_mma_per_tile,
    shared_bytes,
    warp_product,
)
from labs.targets.counts import (
    no_float64,
    no_negative_index,
    one_store_per_element,
    wavefronts_per_request,
)
from utils.translation import translate

CHUNKS = 4  # of a per lane


def chunks_once() -> Target:
    """Return the target that a warp loads each chunk of a once, so that the rest is in the tile.

    The count is the number of requests to load a per block, which is one warp.
    """

    def measure(run: Run) -> float:
        return run.total("a", "load", "requests") / run.job.launch(run.shape).blocks

    def cause(run: Run, value: float) -> str:
        most = max(run.accesses("a"), key=lambda one: one.requests)
        return translate(
            "a warp makes {value:.3g} requests to load `{array}`, most of them at {where}. For all "
            "chunks {chunks} are enough. The fragments are to come from the tile.",
            value=value,
            array=most.array,
            where=at_line(most.site),
            chunks=CHUNKS,
        )

    words = "a warp loads each chunk of `a` once"
    return Target("requests to load a", CHUNKS, words, measure, cause)


EXERCISE = warp_product(
    name="swizzled_tile",
    lesson="23",
    title="A tile without bank conflicts",
    text=(
        "A warp keeps 16×64 elements of `a` in shared memory, as chunks of eight elements. It "
        "copies 128 chunks and reads them by `ldmatrix_x4`. Write the store and the load so that "
        "neither has bank conflicts: 4 wavefronts each. `tile` stays 16×64.",
        "`store8(tile, (row, column), chunk)` stores a chunk. `ldmatrix_x4(of_a, tile, (row, "
        "column))` takes the position of one chunk from each lane. The chunk that begins at column "
        "`x` of `a` may begin at another column of the tile, but in row `y`. `x` counts elements: "
        "0, 8, and so on to 56. Every shape fits: m is a multiple of 16, n of 8, and k is 64.",
    ),
    shapes=((32, 16, 64), (16, 40, 64), (48, 8, 64), (16, 8, 64)),
    vary=in_steps(16, 8, 64),
    whole=in_steps(16, 8, 64),
    targets=(
        no_negative_index(), one_store_per_element(), no_float64(), one_mma_per_tile(),
        essential(ldmatrix_per_mma()), essential(wavefronts_per_request(4)),
        shared_bytes(2048), essential(chunks_once()),
    ),
    main=("ldmatrix missing or too many", "wavefronts per request"),
    hints=(
        "Begin without a swizzle: store the chunk at `(y, x)`, and load from `(y, x)`. The result "
        "is right, and `check` counts the wavefronts.",
        "A row has eight chunks, and `x // 8` is the number of a chunk. In the swizzled half of "
        "the picture, which chunk of row `y` is in the first group of banks?",
        "The exclusive or with `y % 8` gives each row another order of its eight chunks. `x` is a "
        "multiple of 8, so it is `y % 8 * 8` that is combined with it.",
    ),
    after="Eight rows are read in one wavefront, and the tile has no element more.",
)  # fmt: skip
