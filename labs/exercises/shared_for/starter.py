"""The shared memory per block with which an SM of an H200 holds a number of blocks."""


def shared_for(blocks, static_bytes):
    # About 2 lines: what each block can take, and what of it a launch can ask for.
    pass
