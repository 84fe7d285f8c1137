"""Submissions to `required_shared` that ignore the idea of the task."""

HEAD = "import math\n\n\ndef required_shared(side):\n"

CHEAP = {
    "a constant": HEAD + "    return 2048\n",
    "one tile": HEAD + "    return 4 * side * side\n",
    "a constant for each of two sides": HEAD + "    return {16: 2048, 32: 8192}.get(side, 0)\n",
    "right for one side": HEAD + "    return 128 * side\n",
    "nothing": HEAD + "    return 0\n",
}
