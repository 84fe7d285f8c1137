"""Submissions to `issue_bound` that ignore the idea of the task."""

HEAD = "import math\n\n\ndef issue_bound(instructions, multiply_adds, lanes):\n"

CHEAP = {
    "the peak": HEAD + "    return 100\n",
    "a constant": HEAD + "    return 50\n",
    "a third": HEAD + "    return 100 / 3\n",
    "the lanes alone": HEAD + "    return 100 * lanes / 32\n",
    "the multiply-adds": HEAD + "    return multiply_adds\n",
    "the other instructions": HEAD + "    return instructions - multiply_adds\n",
}
