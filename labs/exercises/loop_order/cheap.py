"""Submissions to `loop_order` that ignore the idea of the task."""

from labs.checking.variants import file_beside

STARTER = file_beside(__file__, "starter")
TERM = "                total += a[row, i] * b[i, col]\n"
STORE = "            c[row, col] = total\n"

CHEAP = {
    "the starter": STARTER,
    "columns outermost": STARTER.replace(
        "    for row in range(m):\n        for col in range(n):\n",
        "    for col in range(n):\n        for row in range(m):\n",
    ),
    "a loop for show, along a row of a": STARTER.replace(
        STORE,
        STORE + "            for j in range(5 * k):\n                total += a[row, j % k]\n",
    ),
    "a loop for show, along a row of c": STARTER.replace(
        STORE,
        STORE + "            for repeat in range(2):\n"
        "                for j in range(col):\n                    c[row, j] += float32(0)\n",
    ),
    "a loop for show in the inner one": STARTER.replace(
        TERM,
        TERM + "                for j in range(k):\n"
        "                    total += float32(0) * a[row, j]\n",
    ),
    "the starter backwards": STARTER.replace(
        "for i in range(k):", "for i in range(k - 1, -1, -1):"
    ),
}
