"""Submissions to `sliced_time` that ignore the idea of the task."""

HEAD = "def sliced_time(b, a, kernel, c, slices):\n"

CHEAP = {
    "the starter": HEAD + "    return b + a + kernel + c\n",
    "a constant": HEAD + "    return 1000\n",
    "a part of all": HEAD + "    return (b + a + kernel + c) / slices\n",
    "the kernel alone": HEAD + "    return kernel\n",
    "the slowest stage alone": HEAD + "    return b + max(a, kernel, c)\n",
    "one slice": HEAD + "    return b + (a + kernel + c) / slices\n",
}
