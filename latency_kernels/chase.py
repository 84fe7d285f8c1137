"""How long one load takes: each tells where the next one goes, so that none can start early."""

import numpy as np
from numba import cuda, uint32

SHARED_WORDS = 4096


@cuda.jit
def chase_global(following, at, steps):
    """One thread goes `steps` times from i to following[i], beginning and ending in at[0]."""
    i = at[0]
    step = 0
    while step < steps:
        # Unsigned: an index that may be negative would cost the instructions of Python's x[-1].
        i = following[i]
        step += 1
    at[0] = i


@cuda.jit
def chase_shared(following, at, steps):
    """The same in shared memory, which a block fills with the first SHARED_WORDS of `following`."""
    words = cuda.shared.array(SHARED_WORDS, uint32)
    for word in range(cuda.threadIdx.x, SHARED_WORDS, cuda.blockDim.x):
        words[word] = following[word]
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        i = at[0]
        step = 0
        while step < steps:
            i = words[i]
            step += 1
        at[0] = i


def tour(places: int, apart: int, seed: int = 1) -> np.ndarray:
    """uint32: a random round trip through every `apart`-th element, places in all, for a chase.

    Random, so that neither a cache line nor a guess by the hardware brings the next place early.
    """
    order = np.random.default_rng(seed).permutation(places).astype(np.uint32) * np.uint32(apart)
    following = np.zeros(places * apart, np.uint32)
    following[order] = np.roll(order, -1)
    return following
