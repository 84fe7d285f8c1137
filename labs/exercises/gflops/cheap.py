"""Submissions to `gflops` that ignore the idea of the task."""

HEAD = "def gflops(m, n, k, us):\n"

CHEAP = {
    "a constant": HEAD + "    return 1000\n",
    "the peak": HEAD + "    return 66_900\n",
    "the time": HEAD + "    return us\n",
    "the operations": HEAD + "    return 2 * m * n * k\n",
    "the sizes alone": HEAD + "    return m * n * k / 10**6\n",
    "the time alone": HEAD + "    return 10**6 / us\n",
}
