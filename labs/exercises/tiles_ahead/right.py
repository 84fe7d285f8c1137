"""Other right answers to `tiles_ahead`: changes of the solution that `check` accepts."""

from labs.exercises.tiles_ahead.wrong import CYCLES, RESULT

RIGHT = {
    "rounded up by an addition": [(RESULT, "max(1, (latency + cycles - 1) // cycles)")],
    "by math": [
        ("def tiles", "import math\n\n\ndef tiles"),
        (RESULT, "max(1, math.ceil(latency / cycles))"),
    ],
    "one expression": [(RESULT, "-(-latency // (instructions * warps)) or 1")],
    "a loop": [(f"    {CYCLES}\n    return {RESULT}\n",
                "    tiles = 1\n    while tiles * instructions * warps < latency:\n"
                "        tiles += 1\n    return tiles\n")],
}  # fmt: skip
