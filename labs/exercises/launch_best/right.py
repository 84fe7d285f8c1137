"""Other right answers to `launch_best`: changes of the solution that `check` accepts."""

from labs.exercises.best_block.right import HARMLESS as OF_BEST_BLOCK
from labs.exercises.launch_best.wrong import BYTES, GRID

RIGHT = {
    "one line": [("    grid = " + GRID + "\n", ""), ("[grid,", f"[({GRID}),")],
    "sizes by name": [
        (GRID, "(n + side - 1) // side, (m + side - 1) // side"),
        ("    grid", "    m, n = c.shape\n    grid"),
    ],
    "sizes of a and b": [("c.shape[1]", "b.shape[1]"), ("c.shape[0]", "a.shape[0]")],
    "bytes by hand": [(BYTES, "2 * 4 * side ** 2]")],
    "printed": [("    return side\n", "    print('side', side)\n    return side\n")],
    "a block of three": [("(side, side), 0", "(side, side, 1), 0")],
    "of the function": [("best_block(registers, 8)", "best_block(registers, required_shared(1))")],
}  # fmt: skip

HARMLESS = OF_BEST_BLOCK | {
    "constant_one_more in `kernel[grid, (side, side), 0, required_shared(side)](a, b, c)`": (
        "1 is a stream as well: the driver's own name of the default one"
    ),
    "constant_one_more in `side = square_side(": "a byte more changes none of these squares",
    "constant_one_less in `side = square_side(": "a byte less changes none of these squares",
    "other_operator in `bytes_of_block": "changes none of these squares",
    "other_operator in `blocks = resident_blocks(": "changes none of these squares",
}
