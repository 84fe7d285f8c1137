"""Other right answers to `lane_map`: changes of the solution that `check` accepts."""

from labs.exercises.lane_map.wrong import FOUR, LOOP, MAP, READS, STORE, mapped

RIGHT = {
    "z-order": mapped("lane >> 1 & 1 | lane >> 2 & 2", "lane & 1 | lane >> 1 & 2 | lane >> 2 & 4"),
    "the other pair of bits": mapped("lane >> 1 & 1 | lane >> 3 & 2", "lane & 1 | lane >> 1 & 6"),
    "by divisions": mapped("lane // 16 * 2 + lane % 2", "lane % 16 // 2"),
    "other bits above": mapped("lane & 1 | lane >> 1 & 2", "lane >> 1 & 1 | lane >> 2 & 6"),
    "turned around": mapped("3 - (lane >> 3 & 2 | lane & 1)", "7 - (lane >> 1 & 7)"),
    "scalar stores": [
        (FOUR + STORE, "        for j in range(4):\n"
         "            c[row + down * 4 + i, col + across * 4 + j] = x * of_b[j]\n"),
    ],
    "products in a local array": [
        (LOOP, f"    p = cuda.local.array((4, 4), float32)\n{LOOP}"),
        (FOUR, "        for j in range(4):\n            p[i, j] = x * of_b[j]\n"
         "        four = p[i, 0], p[i, 1], p[i, 2], p[i, 3]\n"),
    ],
    "names for the elements": [
        (READS, "of_a = load4(sa, 4 * down)\n    p, q, r, s = load4(sb, 4 * across)"),
        (FOUR, "        four = x * p, x * q, x * r, x * s\n"),
    ],
    "a barrier more": [(MAP, f"{MAP}\n    cuda.syncthreads()")],
}  # fmt: skip

# `alignment=16` stands in lines that are given, and the virtual GPU does not look at it.
HARMLESS = {
    f"constant_one_more in `{name} = cuda.shared.array(": "a spare word"
    for name in ("sa", "sb")
}
