"""Submissions to `unroll` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, products

LOOPS = file_beside(__file__, "solution").partition("    i = 0\n")[2].partition("    c[row")[0]
TERM = "            total += a[row, i] * b[i, col]\n"

CHEAP = {
    **products("unroll", 8, 32, 256),
    "naive, without tiles": naive_product("unroll", 8, 32, 256),
    "the starter": file_beside(__file__, "starter"),
    "a range that is long enough": [
        (LOOPS, "    for i in range(600):\n        if i < k:\n" + TERM)
    ],
    "a range with a way out": [
        (
            LOOPS,
            "    for i in range(100000):\n        if i >= k:\n            break\n"
            "        if i < k:\n" + TERM,
        )
    ],
    "two ranges, each short": [
        (
            LOOPS,
            "    for i in range(16):\n        if i < k:\n"
            + TERM
            + "    for i in range(16, 32):\n        if i < k:\n"
            + TERM,
        )
    ],
    "a range within a range": [
        (
            LOOPS,
            "    for j in range(8):\n        for u in range(4):\n            i = 4 * j + u\n"
            "            if i < k:\n    " + TERM,
        )
    ],
    "every term by itself": [
        (
            LOOPS,
            "".join(
                f"    if {i} < k:\n        total += a[row, {i}] * b[{i}, col]\n" for i in range(32)
            ),
        )
    ],
}
