"""Other right answers to `tiles_ahead`: changes of the solution that `check` accepts."""

from labs.exercises.tiles_ahead.wrong import CYCLES, RESULT

RIGHT = {
    "rounded up by an addition": [(RESULT, "(latency + cycles - 1) // cycles")],
    "by math": [
        ("def tiles", "import math\n\n\ndef tiles"),
        (RESULT, "math.ceil(latency / cycles)"),
    ],
    "one expression": [(RESULT, "-(-latency // (warps * instructions))")],
    "never none": [(RESULT, "max(1, -(-latency // cycles))")],
    "a loop": [(f"    {CYCLES}\n    return {RESULT}\n",
                "    tiles = 0\n    while tiles * instructions * warps < latency:\n"
                "        tiles += 1\n    return tiles\n")],
}  # fmt: skip
