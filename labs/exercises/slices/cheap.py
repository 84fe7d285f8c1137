"""Submissions to `slices` that ignore the idea of the task."""

HEAD = "import math\n\n\ndef slices(tiles, sms, steps):\n"

CHEAP = {
    "one": HEAD + "    return 1\n",
    "the most": HEAD + "    return 12 if steps >= 12 else 1\n",
    "as many as fit": HEAD + "    return max(1, sms // tiles)\n",
    "a constant": HEAD + "    return 4\n",
    "two or one": HEAD + "    return 2 if tiles < sms else 1\n",
}
