"""Submissions to `lane_of` that ignore the idea of the task."""

HEAD = "def lane_of(row, k):\n"

CHEAP = {
    "the first lane": HEAD + "    return 0\n",
    "the last lane": HEAD + "    return 31\n",
    "the row": HEAD + "    return row\n",
    "the step of k": HEAD + "    return k\n",
    "the first cases alone": HEAD + "    return 1 if k in (2, 3) else 3 if k == 7 else 0\n",
    "both added": HEAD + "    return row + k\n",
}
