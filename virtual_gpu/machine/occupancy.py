"""The number of blocks that a device of compute capability 9.0 can hold at once."""

from __future__ import annotations

from virtual_gpu.common.division import cdiv

from ..common.lanes import WARP

MULTIPROCESSORS = 132
THREADS_PER_MULTIPROCESSOR = 2048
BLOCKS_PER_MULTIPROCESSOR = 32
SHARED_BYTES_PER_MULTIPROCESSOR = 228 * 1024
RESERVED_SHARED_BYTES = 1024  # per block, by the system


def blocks_per_multiprocessor(threads: int, shared_bytes: int = 0) -> int:
    """Return the number of blocks that one multiprocessor can hold at once.

    ``threads`` and ``shared_bytes`` are those of one block. The limits are 32 blocks, 2048 threads,
    for which a block counts in whole warps, and 228 KiB of shared memory, of which the system takes
    1 KiB per block. Registers are not counted, because the compiler has not allocated them yet.
    """
    whole_warps = cdiv(threads, WARP) * WARP
    by_shared = SHARED_BYTES_PER_MULTIPROCESSOR // (shared_bytes + RESERVED_SHARED_BYTES)
    by_threads = THREADS_PER_MULTIPROCESSOR // whole_warps
    return min(BLOCKS_PER_MULTIPROCESSOR, by_threads, by_shared)


def resident_blocks(threads: int, shared_bytes: int = 0) -> int:
    """Return the number of blocks that a device with 132 multiprocessors can hold at once.

    ``threads`` and ``shared_bytes`` are those of one block. Registers are not counted.
    """
    return MULTIPROCESSORS * blocks_per_multiprocessor(threads, shared_bytes)
