"""The block size with the most resident threads on an H200."""


def resident_blocks(threads, registers, shared_bytes):
    warps = -(-threads // 32)
    registers_of_warp = -(-registers * 32 // 256) * 256
    bytes_of_block = -(-(shared_bytes + 1024) // 128) * 128
    warps_by_registers = 4 * (16_384 // registers_of_warp)
    return min(64 // warps, 32, warps_by_registers // warps, 233_472 // bytes_of_block)


def best_block(registers, bytes_per_thread):
    best, most = 0, 0
    for threads in range(32, 1024 + 1, 32):
        blocks = resident_blocks(threads, registers, bytes_per_thread * threads)
        if blocks * threads >= most:
            best, most = threads, blocks * threads
    return best
