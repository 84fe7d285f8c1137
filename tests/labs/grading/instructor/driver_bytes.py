"""The 1,024 bytes of the driver are forgotten."""


def resident_blocks(threads, registers, shared_bytes):
    warps = -(-threads // 32)
    registers_of_warp = -(-registers * 32 // 256) * 256
    bytes_of_block = -(-shared_bytes // 128) * 128
    warps_by_registers = 4 * (16_384 // registers_of_warp)
    return min(64 // warps, 32, warps_by_registers // warps, 233_472 // max(1, bytes_of_block))
