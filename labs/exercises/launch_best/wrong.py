"""Wrong answers to `launch_best`: what `check` says, and the changes that earn it."""

SEARCH = "square_side(best_block(registers, 8))"
GRID = "-(-c.shape[1] // side), -(-c.shape[0] // side)"
LAUNCH = "    kernel[grid, (side, side), 0, required_shared(side)](a, b, c)\n"
BYTES = "required_shared(side)]"

WRONG = {
    "With 32 registers": {"always 16": [(SEARCH, "16")]},
    "With 96 registers": {
        "always 32": [(SEARCH, "32")],
        "registers not used": [("best_block(registers, 8)", "best_block(32, 8)")]},
    "the bytes of two float32": {
        "for one float32": [("best_block(registers, 8)", "best_block(registers, 400)")]},
    "your blocks have 25×25 threads": {
        "no square": [(SEARCH, "math.isqrt(best_block(registers, 8))")]},
    "the threads of the whole block": {
        "threads for the side": [(SEARCH, "best_block(registers, 8)")]},
    "They must be square": {"a block of one row": [("(side, side), 0", "side * side, 0")]},
    "3×2 blocks of side 32": {
        "x and y of the grid exchanged": [
            (GRID, "-(-c.shape[0] // side), -(-c.shape[1] // side)")]},
    "a block for each element": {"a block for each element": [(GRID, "c.shape[1], c.shape[0]")]},
    "belong to no block": {"rounded down": [(GRID, "c.shape[1] // side, c.shape[0] // side")]},
    "one too many where a side of the block divides": {
        "one block more": [(GRID, "c.shape[1] // side + 1, c.shape[0] // side + 1")]},
    "`c` has 64 columns and 48 rows": {"a grid for a": [("c.shape[1]", "a.shape[1]")]},
    "The fourth number in the brackets is missing": {
        "no memory": [(", 0, required_shared(side)]", "]")]},
    "stream": {
        "the bytes for the stream": [("0, required_shared(side)]", "required_shared(side)]")]},
    "These are words": {"words": [(BYTES, "2 * side * side]")]},
    "This is one tile": {"one tile": [(BYTES, "4 * side * side]")]},
    "one row of each tile": {"a row": [(BYTES, "8 * side]")]},
    "This is for one thread": {"one thread": [(BYTES, "8]")]},
    "before it became a square": {
        "the suggested block": [(BYTES, "8 * best_block(registers, 8)]")]},
    "never launched": {
        "no launch": [(LAUNCH, "")],
        "not called": [("](a, b, c)", "]")]},
    "launched 2 times": {"two launches": [(LAUNCH, LAUNCH * 2)]},
    "launched as kernel[grid, block, stream, bytes]": {
        "no brackets": [("kernel[grid, (side, side), 0, required_shared(side)]", "kernel")]},
    "in the place of `a`": {"another order": [("](a, b, c)", "](c, a, b)")]},
    "gets 2 arguments": {"no c": [("](a, b, c)", "](a, b)")]},
    "returns `None`": {"nothing returned": [("    return side\n", "")]},
    "returns 1024; the side is 32": {
        "threads returned": [("return side\n", "return side * side\n")]},
}  # fmt: skip
