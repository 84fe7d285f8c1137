"""Other right answers to `micro_kernel`: changes of the solution that `check` accepts."""

from labs.exercises.micro_kernel.wrong import FIRST, LOOP, ROW, SECOND, START, STEP

RIGHT = {
    "a while loop": [(LOOP, "p = -1\n    while p < a.size // 2 - 1:\n        p += 1")],
    "elements of a as numbers": [
        ("broadcast(a, 2 * p, 8)", "set1(a[2 * p], 8)"),
        ("broadcast(a, 2 * p + 1, 8)", "set1(a[2 * p + 1], 8)"),
    ],
    "operands of the product exchanged": [
        ("fmadd(broadcast(a, 2 * p, 8), row, c0)", "fmadd(row, broadcast(a, 2 * p, 8), c0)")
    ],
    "steps from b": [("a.size // 2", "b.size // 8")],
    "by the elements of a": [
        (LOOP, "for p in range(0, a.size, 2):"),
        ("8 * p", "4 * p"),
        ("2 * p", "p"),
    ],
    "the first step is a product": [
        (START, "row = loadu(b, 0, 8)\n    c0 = mul(broadcast(a, 0, 8), row)\n"
         "    c1 = mul(broadcast(a, 1, 8), row)"),
        ("range(a.size // 2)", "range(1, a.size // 2)"),
        ("loadu, set1", "loadu, mul, set1"),
    ],
    "two sums by name": [(START, "c0 = set1(float32(0), 8)\n    c1 = set1(float32(0), 8)")],
    "sums in a tuple": [
        (STEP, f"{ROW}\n        c0, c1 = ({FIRST.removeprefix('c0 = ')}, "
         f"{SECOND.removeprefix('c1 = ')})\n"),
    ],
}  # fmt: skip
