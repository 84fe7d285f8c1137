"""Submissions to `room_in_sets` that ignore the idea of the task."""

HEAD = "def room_in_sets(words, rows):\n"

CHEAP = {
    "the whole cache": HEAD + "    return min(rows, 768)\n",
    "one set": HEAD + "    return min(rows, 12)\n",
    "a constant": HEAD + "    return 96\n",
    "all rows": HEAD + "    return rows\n",
    "powers of two by heart": HEAD + (
        "    return min(rows, 12 if words == 1024 else 96 if words == 128 else 768)\n"),
}  # fmt: skip
