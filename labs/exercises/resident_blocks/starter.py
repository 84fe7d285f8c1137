"""The number of blocks that an SM of an H200 holds at once."""


def resident_blocks(threads, registers, shared_bytes):
    # About 6 lines: what one block takes of each resource, and how many of them there is room for.
    pass
