"""A search for the block size with the most resident threads on an H200, with three faults."""


def best_block(registers, bytes_per_thread):
    best, most = 0, 0
    for threads in range(32, 1024, 32):
        blocks = resident_blocks(threads, registers, bytes_per_thread)
        if blocks >= most:
            best, most = threads, blocks
    return best
