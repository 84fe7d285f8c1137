"""Other right answers to `resident_blocks`: changes of the solution that `check` accepts."""

from labs.exercises.resident_blocks.wrong import OF_WARP, RESULT, WARPS

BY_HAND = """import math


def resident_blocks(threads, registers, shared_bytes):
    warps = math.ceil(threads / 32)
    blocks = 0
    while True:
        more = blocks + 1
        portions = math.ceil(registers / 8)
        in_a_part = 64 // portions
        taken = math.ceil((shared_bytes + 1024) / 128)
        if more > 32 or more * warps > 64 or more * warps > 4 * in_a_part or more * taken > 1824:
            return blocks
        blocks = more
"""

IN_STEPS = """def up(amount, unit):
    return (amount + unit - 1) // unit * unit


def resident_blocks(threads, registers, shared_bytes):
    warps = up(threads, 32) // 32
    rooms = [64 // warps, 32]
    by_registers = int(16384 / up(registers * 32, 256)) * 4 // warps
    by_memory = 228 * 1024 // up(shared_bytes + 1024, 128)
    least = rooms[0]
    for room in (rooms[1], by_registers, by_memory):
        if room < least:
            least = room
    return least
"""

RIGHT = {
    "another function and a loop": IN_STEPS,
    "block after block": BY_HAND,
    "math.ceil": [
        (WARPS, "math.ceil(threads / 32)"), ("def ", "import math\n\n\ndef "),
    ],
    "rounded up by adding": [(WARPS, "(threads + 31) // 32")],
    "portions of 8": [(OF_WARP, "-(-registers // 8) * 8 * 32")],
    "other names": [("threads", "t"), ("shared_bytes", "s"), ("registers,", "r,"),
                    ("-registers", "-r")],
    "floats": [("64 // warps", "math.floor(64 / warps)"), ("def ", "import math\n\n\ndef ")],
    "if for min": [(f"return {RESULT}", f"rooms = {RESULT}\n    if rooms < 1:\n        return 0\n"
                    "    return rooms")],
}  # fmt: skip

# For whole numbers in the range of the task these change nothing.
HARMLESS = {
    "constant_one_more in `warps_by_registers = 4 * (16_384 // registers_of_warp)`": (
        "16,385 is no multiple of a warp's registers"
    ),
    "constant_one_more in `return min(64 // warps, 32, warps_by_registers // warps, "
    "233_472 // bytes_of_block)`": "233,473 is no multiple of a block's bytes",
    **{
        f"constant_one_{way} in `registers_of_warp = -(-registers * 32 // 256) * 256`": (
            "up to 255 registers, portions of 255 or 257 are as many as portions of 256"
        )
        for way in ("more", "less")
    },
}
