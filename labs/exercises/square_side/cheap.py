"""Submissions to `square_side` that ignore the idea of the task."""

HEAD = "import math\n\n\ndef square_side(threads):\n"

CHEAP = {
    "a constant": HEAD + "    return 16\n",
    "of two sides": HEAD + "    return 32 if threads >= 1024 else 16\n",
    "all threads": HEAD + "    return threads\n",
    "the root alone": HEAD + "    return math.isqrt(threads)\n",
    "a table of few": HEAD + "    return {256: 16, 1024: 32, 64: 8}.get(threads, 4)\n",
}
