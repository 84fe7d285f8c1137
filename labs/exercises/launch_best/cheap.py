"""Submissions to `launch_best` that ignore the idea of the task."""

HEAD = "def launch_best(kernel, registers, a, b, c):\n"
LAUNCH = """    grid = -(-c.shape[1] // side), -(-c.shape[0] // side)
    kernel[grid, (side, side), 0, 8 * side * side](a, b, c)
    return side
"""

CHEAP = {
    "always 32": HEAD + "    side = 32\n" + LAUNCH,
    "always 16": HEAD + "    side = 16\n" + LAUNCH,
    "a table of sides": (
        HEAD + "    side = {32: 32, 96: 16, 40: 16, 168: 16, 64: 32, 56: 16, 33: 16, 57: 32}"
        ".get(registers, 8)\n" + LAUNCH
    ),
    "no launch": HEAD + "    return 32 if registers <= 32 else 16\n",
    "a guess by the registers": HEAD + "    side = 32 if registers < 64 else 16\n" + LAUNCH,
    "a block for each element": (
        HEAD + "    side = 1\n    kernel[(c.shape[1], c.shape[0]), (1, 1), 0, 8](a, b, c)\n"
        "    return side\n"
    ),
}
