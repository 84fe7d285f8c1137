"""Submissions to `littles_law` that ignore the idea of the task."""

HEAD = "def littles_law(latency, rate, workers, each):\n"

CHEAP = {
    "the full rate": HEAD + "    return 100\n",
    "half": HEAD + "    return 50\n",
    "the workers alone": HEAD + "    return min(100, 100 * workers / 8)\n",
    "what is needed": HEAD + "    return latency * rate\n",
    "what is under way": HEAD + "    return min(100, workers * each)\n",
}
