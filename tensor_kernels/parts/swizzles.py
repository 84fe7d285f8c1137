"""Where a tile in shared memory keeps its elements, so that ldmatrix has no bank conflicts."""

from functools import cache

from numba import cuda

CHUNK = 8  # 16-bit elements of 16 bytes, which one lane's row of ldmatrix has
CHUNKS_OF_ALL_BANKS = 8  # 128 bytes are one access to each of the 32 banks


@cache
def swizzle(COLUMNS):
    """Return a device function (row, col) -> column at which a tile keeps element (row, col).

    The tile has COLUMNS elements of 16 bits per row, a power of two of at least 16. ldmatrix reads
    chunks of 16 bytes, eight rows of the same column at once. Without a swizzle they are in the
    same banks, or in few. The function moves each chunk by an exclusive or with the row's number,
    and leaves it in its row; the inside of a chunk keeps its order. `row` and `col` are unsigned.
    """
    CHUNKS = min(COLUMNS // CHUNK, CHUNKS_OF_ALL_BANKS)
    # Short rows: this number of rows are side by side in the 32 banks, so they differ already.
    ROWS = CHUNKS_OF_ALL_BANKS // CHUNKS

    @cuda.jit(device=True, forceinline=True)
    def place(row, col):
        return col ^ (row // ROWS % CHUNKS * CHUNK)

    return place
