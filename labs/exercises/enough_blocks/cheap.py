"""Submissions to `enough_blocks` that ignore the idea of the task."""

HEAD = "def enough_blocks(elements, threads):\n"

CHEAP = {
    "a constant": HEAD + "    return 4\n",
    "rounded down": HEAD + "    return elements // threads\n",
    "the numbers of the lesson": HEAD + "    return 4 if elements < 1025 else 20\n",
    "one block per element": HEAD + "    return elements\n",
    "not rounded": HEAD + "    return elements / threads\n",
    "blocks of 256 threads": HEAD + "    return (elements + 255) // 256\n",
}
