"""Tiles whose width the launch decides, in dynamic shared memory: one kernel for every TILE."""

from numba import cuda, float32, uint32

from gemm_kernels import tiled
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import GEMM

FLOAT32_BYTES = 4


# The launch decides how wide a tile is, so one compiled kernel serves every TILE; flaw: a loop
# whose length the compiler does not know is not unrolled.
@cuda.jit
def tiled_dynamic(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    # A length of 0 means all dynamic shared memory of the launch. There is only one such array:
    # the tile of a is its first half, the tile of b its second.
    tiles = cuda.shared.array(0, float32)
    tile = uint32(cuda.blockDim.x)
    second = tile * tile
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    row = uint32(cuda.blockIdx.y * tile + ty)
    col = uint32(cuda.blockIdx.x * tile + tx)
    mine = ty * tile + tx

    total = float32(0)
    start = 0
    while start < k:
        tiles[mine] = a[row, start + tx] if row < m and start + tx < k else float32(0)
        tiles[second + mine] = b[start + ty, col] if start + ty < k and col < n else float32(0)
        cuda.syncthreads()
        # This loop counts and compares; a constant TILE would leave only loads and multiply-adds.
        i = uint32(0)
        while i < tile:
            total += tiles[ty * tile + i] * tiles[second + i * tile + tx]
            i = uint32(i + 1)
        cuda.syncthreads()
        start += tile

    if row < m and col < n:
        c[row, col] = total


def launch(shape, TILE):
    """Return a launch with one block of TILE×TILE threads per TILE×TILE tile of c.

    Axis x of the grid counts tiles along n, and axis y along m. Its dynamic shared memory has room
    for two tiles of float32.
    """
    covering = tiled.launch(shape, TILE)
    return Launch(covering.grid, covering.block, shared_bytes=2 * TILE * TILE * FLOAT32_BYTES)


STEP = Step(
    module=__name__,
    name="tiled_dynamic",
    idea="dynamic shared memory: TILE is chosen at launch, at the price of a loop not written out",
    previous="tiled",
    task=GEMM,
    build=lambda TILE: tiled_dynamic,
    launch=launch,
    choices={"TILE": (32, 16, 8)},
    budget=Budget(registers=64, shared_bits=32, ffma_share=0.1),
)
