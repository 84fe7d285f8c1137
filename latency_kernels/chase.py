"""Pointer chases to measure the latency of a load: each load gives the address of the next."""

import numpy as np
from numba import cuda, uint32

SHARED_WORDS = 4096


@cuda.jit
def chase_global(following, at, steps):
    """Let one thread repeat i = following[i] `steps` times; i begins and ends in at[0]."""
    i = at[0]
    step = 0
    while step < steps:
        # Unsigned, because an index that may be negative costs the instructions of Python's x[-1].
        i = following[i]
        step += 1
    at[0] = i


@cuda.jit
def chase_shared(following, at, steps):
    """Let thread 0 repeat i = words[i] `steps` times; i begins and ends in at[0].

    words is a copy of the first SHARED_WORDS elements of `following` in shared memory.
    """
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
    """Return a uint32 array for a chase, in which an element holds the index of the next element.

    The array has places · apart elements. The chase visits the `places` multiples of `apart` in
    random order and then begins again; the other elements hold 0. The order, which depends on
    `seed`, is random, so that neither a cache line nor the hardware's prefetcher loads the next
    element early.
    """
    order = np.random.default_rng(seed).permutation(places).astype(np.uint32) * np.uint32(apart)
    following = np.zeros(places * apart, np.uint32)
    following[order] = np.roll(order, -1)
    return following
