"""The shared memory per block with which an SM of an H200 holds a number of blocks."""


def shared_for(blocks, static_bytes):
    taken = 233_472 // blocks // 128 * 128
    return taken - 1024 - static_bytes
