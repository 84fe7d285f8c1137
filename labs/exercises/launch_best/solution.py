"""A launch whose block is the best one."""

import math


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


def square_side(threads):
    square = 4 ** math.floor(math.log(threads, 4))
    return math.isqrt(square)


def required_shared(side):
    return 2 * side * side * 4


def launch_best(kernel, registers, a, b, c):
    side = square_side(best_block(registers, 8))  # two float32 for each thread
    grid = -(-c.shape[1] // side), -(-c.shape[0] // side)
    kernel[grid, (side, side), 0, required_shared(side)](a, b, c)
    return side
