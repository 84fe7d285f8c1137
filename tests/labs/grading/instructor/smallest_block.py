"""`>` instead of `>=`: of equal blocks the smallest instead of the largest."""


def best_block(registers, bytes_per_thread):
    best, most = 0, 0
    for threads in range(32, 1024 + 1, 32):
        blocks = resident_blocks(threads, registers, bytes_per_thread * threads)  # noqa: F821
        if blocks * threads > most:
            best, most = threads, blocks * threads
    return best
