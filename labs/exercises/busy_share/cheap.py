"""Submissions to `busy_share` that ignore the idea of the task."""

HEAD = "def busy_share(operations, dram, l2, wavefronts, instructions, ms):\n"

CHEAP = {
    "a constant": HEAD + "    return 61\n",
    "always busy": HEAD + "    return 100\n",
    "arithmetic alone": HEAD + "    return 100_000 * operations / 65_108 / ms\n",
    "the pipe alone": HEAD + "    return 100_000 * wavefronts / 258 / ms\n",
    "the issue slots alone": HEAD + "    return 100_000 * instructions / 1_045 / ms\n",
    "the time alone": HEAD + "    return 1000 / ms\n",
}
