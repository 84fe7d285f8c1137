"""Submissions to `wavefronts` that ignore the idea of the task."""

HEAD = "import math\n\n\ndef wavefronts(side, stride_x, stride_y):\n"

CHEAP = {
    "one": HEAD + "    return 1\n",
    "the side": HEAD + "    return side\n",
    "a constant": HEAD + "    return 32\n",
    "the stride of x alone": HEAD + "    return max(1, stride_x)\n",
    "conflicts of x alone": HEAD + "    return math.gcd(stride_x, 32)\n",
}
