"""Other right answers to `lane_bits`: changes of the solution that `check` accepts."""

from labs.exercises.lane_bits.wrong import MAP

RIGHT = {
    "bit 0 across, bit 1 down": [
        (MAP, "lane >> 1 & 6 | lane & 1, lane >> 3 & 2 | lane >> 1 & 1")],
    "bit 4 across, bit 3 down": [
        (MAP, "lane >> 2 & 4 | lane >> 1 & 3, lane >> 2 & 2 | lane & 1")],
    "by division and remainder": [(MAP, "lane // 2 % 8, lane // 16 * 2 + lane % 2")],
}  # fmt: skip

# What is longer than it must be, and another alignment: the virtual GPU does not look at it.
HARMLESS = {
    "constant_one_more in `sa = cuda.shared.array(": "a spare word",
    "constant_one_more in `sb = cuda.shared.array(": "a spare word",
}
