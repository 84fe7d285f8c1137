"""Submissions to `tiles_ahead` that ignore the idea of the task."""

HEAD = "def tiles_ahead(latency, instructions, warps):\n"

CHEAP = {
    "always one": HEAD + "    return 1\n",
    "always two": HEAD + "    return 2\n",
    "the warps": HEAD + "    return warps\n",
    "the latency": HEAD + "    return latency\n",
    "long or short": HEAD + "    return 1 if latency < instructions * warps else 2\n",
}
