"""Submissions to `shared_cost` that ignore the idea of the task."""

HEAD = "def shared_cost(grain, word_of_a):\n"

CHEAP = {
    "the case of grain 1": HEAD + "    return 2.0625\n",
    "one wavefront": HEAD + "    return 1\n",
    "the grain": HEAD + "    return grain\n",
    "the word of a": HEAD + "    return word_of_a\n",
    "their sum": HEAD + "    return grain + word_of_a\n",
    "their quotient": HEAD + "    return word_of_a / grain\n",
}
