"""One warp multiplies 16×8 of c on a tensor core, and reads its fragments element by element."""

from numba import cuda, float32, uint32
from numba.types import float16

from tensor_kernels.parts.edges import element
from utils.division import cdiv
from utils.intrinsics.tensor import mma_m16n8k8
from utils.ladder.step import Budget, Launch, Step
from utils.ladder.tasks import TENSOR_GEMM

M, N, K = 16, 8, 8  # the sizes of one mma: 16×8 of a times 8×8 of b


# One instruction of a warp does the work of 1024 multiply-adds; flaw: its fragments come from
# global memory, two bytes per lane and load, and each element is read once per block that needs it.
@cuda.jit
def mma_naive(a, b, c):
    m, k = a.shape
    n = b.shape[1]
    sums = cuda.local.array(4, float32)
    of_a = cuda.local.array(4, float16)
    of_b = cuda.local.array(2, float16)
    lane = uint32(cuda.threadIdx.x)
    # Four lanes share a row of a, a column of b, and a row of c.
    group, pair = lane // 4, lane % 4 * 2
    row, col = uint32(cuda.blockIdx.y * M), uint32(cuda.blockIdx.x * N)

    for i in range(4):
        sums[i] = float32(0)
    start = uint32(0)
    while start < k:
        # A lane holds rows group and group + 8 of a, and in each of them two steps of k.
        for i in range(4):
            of_a[i] = element(a, row + group + i // 2 * 8, start + pair + i % 2)
        for i in range(2):
            of_b[i] = element(b, start + pair + i, col + group)
        # All 32 lanes must come here together, also those whose elements are all outside.
        mma_m16n8k8(sums, of_a, of_b)
        start = uint32(start + K)

    for i in range(4):
        down, right = row + group + i // 2 * 8, col + pair + i % 2
        if down < m and right < n:
            c[down, right] = sums[i]


def launch(shape):
    """Return a launch with one warp, which is a block, per 16×8 of c.

    Axis x of the grid counts tiles along n, and axis y along m.
    """
    return Launch(grid=(cdiv(shape.n, N), cdiv(shape.m, M)), block=(32,))


STEP = Step(
    module=__name__,
    name="mma_naive",
    idea="one warp per 16×8 of c; fragments come element by element from global memory",
    previous=None,
    task=TENSOR_GEMM,
    build=lambda: mma_naive,
    launch=launch,
    budget=Budget(registers=34, global_bits=16, tensor_share=0.014),
)
