"""Other right answers to `one_mma`: changes of the solution that `check` accepts."""

from labs.exercises.one_mma.wrong import LOAD, LOOP, STORE

HARMLESS = {
    "constant_one_more in `sums = cuda.local.array": "an element more is not used",
    "constant_one_more in `of_a = cuda.local.array": "an element more is not used",
    "constant_one_more in `of_b = cuda.local.array": "an element more is not used",
    "float64 in `sums[i] = float32(0)`": "the local array makes a float32 of it",
}  # fmt: skip

RIGHT = {
    "written out": [
        (LOOP + LOAD,
         "    of_a[0] = a[row + group, pair]\n    of_a[1] = a[row + group, pair + 1]\n"
         "    of_a[2] = a[row + group + 8, pair]\n    of_a[3] = a[row + group + 8, pair + 1]\n"),
    ],
    "two loops": [
        (LOOP + STORE,
         "    for y in range(2):\n        for x in range(2):\n"
         "            c[row + group + 8 * y, col + pair + x] = sums[2 * y + x]\n"),
    ],
    "positions first": [
        (LOAD, "        y = row + group + (i >> 1) * 8\n        x = pair + (i & 1)\n"
               "        of_a[i] = a[y, x]\n"),
    ],
    "from the last to the first": [
        (LOOP + LOAD, LOOP.replace("range(4)", "range(3, -1, -1)") + LOAD),
    ],
    "k in another order": [
        ("b[pair + i, col + group]", "b[lane % 4 + 4 * i, col + group]"),
        (LOAD, "        of_a[i] = a[row + group + i // 2 * 8, lane % 4 + i % 2 * 4]\n"),
    ],
}  # fmt: skip
