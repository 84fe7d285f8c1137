"""Other right answers to `four_sums`: changes of the solution that `check` accepts."""

from labs.exercises.four_sums.wrong import BODY, LOOP, START, STORE_0, STORE_1

RIGHT = {
    "four sums, line by line": [
        (START, "zero = set1(float32(0), 8)\n    c0, c1 = zero, zero\n    d0, d1 = zero, zero"),
    ],
    "the sums added before they are stored": [
        (STORE_0, "c0 = fmadd(one, d0, c0)\n    c1 = fmadd(d1, one, c1)\n    storeu(c, 0, c0)"),
        (STORE_1, "storeu(c, 8, c1)"),
    ],
    "the first half and the second half": [
        (LOOP, "half = a.size // 4\n    for p in range(half)"),
        ("row = loadu(b, 8 * p + 8, 8)", "q = p + half\n        row = loadu(b, 8 * q, 8)"),
        ("2 * p + 2", "2 * q"), ("2 * p + 3", "2 * q + 1"),
    ],
    "a while loop": [
        (f"{LOOP}:\n", "p = 0\n    while p < a.size // 2:\n"),
        ("row, d1)\n", "row, d1)\n        p += 2\n"),
    ],
    "one loop over the pairs": [
        (LOOP, "for pair in range(a.size // 4)"),
        ("row = loadu(b, 8 * p, 8)", "p = 2 * pair\n        row = loadu(b, 8 * p, 8)"),
    ],
    "both vectors first": [
        (BODY, """\
        row, next_row = loadu(b, 8 * p, 8), loadu(b, 8 * (p + 1), 8)
        c0 = fmadd(broadcast(a, 2 * p, 8), row, c0)
        d0 = fmadd(broadcast(a, 2 * (p + 1), 8), next_row, d0)
        c1 = fmadd(broadcast(a, 2 * p + 1, 8), row, c1)
        d1 = fmadd(broadcast(a, 2 * (p + 1) + 1, 8), next_row, d1)
"""),
    ],
}  # fmt: skip

HARMLESS = {}
