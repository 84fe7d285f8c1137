"""Other right answers to `unroll`: changes of the solution that `check` accepts."""

from labs.exercises.unroll.wrong import FOUR, FOUR_TOTALS, REST, TERMS


def left_over(u: int) -> str:
    """The term i + u, if there is one."""
    return f"    if i + {u} < k:\n        total += a[row, i + {u}] * b[i + {u}, col]\n"


OWN_CONSTANTS = """from numba import cuda, float32


@cuda.jit
def unroll(a, b, c):
    U = 4
    m, k = a.shape
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < m and col < b.shape[1]:
        i, total = 0, float32(0)
        while i + (U - 1) < k:
            for u in range(U):
                total += a[row, i + u] * b[i + u, col]
            i += U
        while i < k:
            total += a[row, i] * b[i, col]
            i += 1
        c[row, col] = total
"""

RIGHT = {
    "constants of its own": OWN_CONSTANTS,
    "a test of the last term": [("    whole = k - k % 4\n", ""), ("i < whole", "i + 3 < k")],
    "a difference in the test": [("    whole = k - k % 4\n", ""), ("i < whole", "i < k - 3")],
    "four totals": [*FOUR_TOTALS, ("= total\n", "= total + t1 + t2 + t3\n")],
    "one expression": [
        (
            FOUR,
            "        total += ("
            + " + ".join(f"a[row, i + {u}] * b[i + {u}, col]" for u in range(4))
            + ")\n",
        )
    ],
    "a range of a constant": [
        (FOUR, "        for u in range(4):\n            total += a[row, i + u] * b[i + u, col]\n")
    ],
    "i moves within the turn": [
        (FOUR, (TERMS[0] + "        i += 1\n") * 4),
        ("        i += 4\n", ""),
    ],
    "by 8": [
        ("% 4", "% 8"),
        ("i += 4", "i += 8"),
        (FOUR, FOUR + "".join(TERMS[1].replace("1", str(u)) for u in range(4, 8))),
    ],
    "tests in place of a second loop": [(REST, "".join(map(left_over, range(3))))],
}

HARMLESS = {
    "size_one_less in `while i < whole:`": "i and whole are multiples of 4",
}
