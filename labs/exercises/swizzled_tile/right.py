"""Other right answers to `swizzled_tile`: changes of the solution that `check` accepts."""

from labs.exercises.swizzled_tile.wrong import LOAD, STORE, both

PLACE = "place = x ^ (y % 8) * 8\n        "

HARMLESS = {
    "constant_one_more in `sums = cuda.local.array": "an element more is not used",
    "constant_one_more in `of_a = cuda.local.array": "an element more is not used",
    "constant_one_more in `of_b = cuda.local.array": "an element more is not used",
    "constant_one_more in `tile = cuda.shared.array": "longer",
    "constant_one_less in `for start in range(0, 64, 16)": "the last iteration begins at 48",
    "constant_one_more in `mma_m16n8k8": "mma takes the first elements of a longer slice",
    "float64 in `sums[i] = float32(0)`": "the local array makes a float32 of it",
}  # fmt: skip

RIGHT = {
    "the next group for each row": both("(x + y % 8 * 8) % 64"),
    "backwards": both("(x - y * 8) % 64"),
    "chunks, not elements": both("(x // 8 ^ y % 8) * 8"),
    "the remainder of the whole": both("x ^ y * 8 % 64"),
    "by the lane that loads": [(LOAD, LOAD.replace("y % 8", "lane % 8"))],
    "bits": both("x ^ (y & 7) << 3"),
    "a name for the column": [
        (STORE, PLACE + STORE.replace("x ^ y % 8 * 8", "place")),
        (LOAD, PLACE + LOAD.replace("x ^ y % 8 * 8", "place"))],
}  # fmt: skip
