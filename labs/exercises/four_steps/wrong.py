"""Wrong answers to `four_steps`: what `check` says, and the changes that earn it."""

ALIGNED = "float32, alignment=16)"
INDICES = "tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)"
STEPS = "for first in range(0, TILE, 4):"
FOUR = "for u in range(4):"
READ_B = "tile_b[first + u, tx]"
READ_A = "tile_a[ty + 8 * g, first + u]"
LOADED = "        cuda.syncthreads()\n        for first"
USED = "* from_b\n        cuda.syncthreads()\n"

WRONG = {
    "the target is 0.1.": {
        "one step of k": [(STEPS, "for first in range(TILE):"), (FOUR, "for u in range(1):")],
        "two steps of k": [(STEPS, "for first in range(0, TILE, 2):"),
                           (FOUR, "for u in range(2):")]},
    "0 of these are `LDS.128`": {
        "without the alignment": [(ALIGNED, "float32)")],
        "the other tile is aligned": [
            (f"tile_a = cuda.shared.array((TILE, TILE), {ALIGNED}",
             "tile_a = cuda.shared.array((TILE, TILE), float32)"),
            ("tile_b = cuda.shared.array((TILE, TILE), float32)",
             f"tile_b = cuda.shared.array((TILE, TILE), {ALIGNED}")]},
    "the target is 3.5.": {
        "indices with a sign": [(INDICES, "tx, ty = cuda.threadIdx.x, cuda.threadIdx.y")],
        "only the column without a sign": [
            (INDICES, "tx, ty = uint32(cuda.threadIdx.x), cuda.threadIdx.y")]},
    "every sum lacks the terms i = 1, 2, 3": {
        "the inner loop is in no index": [
            (READ_B, "tile_b[first, tx]"), (READ_A, "tile_a[ty + 8 * g, first]")]},
    "within one term both must be the same i": {
        "the inner loop is not in the index of a": [(READ_A, "tile_a[ty + 8 * g, first]")],
        "the inner loop is not in the index of b": [(READ_B, "tile_b[first, tx]")]},
    "every sum lacks the terms i = 11, 12, 13": {
        "the outer loop counts groups": [(STEPS, "for first in range(TILE // 4):")]},
    "every sum lacks the terms i = 4, 5, 6": {
        "every second group of four": [(STEPS, "for first in range(0, TILE, 8):")]},
    "every sum lacks the terms i = 3, 7, 11": {
        "three steps of four": [(FOUR, "for u in range(3):")]},
    "Nothing makes the threads wait between line {other_line}, which fills the tile, and line "
    "{line}: this element may be read before it has been loaded.": {
        "no barrier after the loads": [(LOADED, "        for first")]},
    "Nothing makes the threads wait after line {other_line}: a fast one begins the next turn and "
    "replaces an element that a slow one still needs.": {
        "no barrier after the sums": [(USED, "* from_b\n")]},
}  # fmt: skip
