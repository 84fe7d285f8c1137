"""Submissions to `least_ms` that ignore the idea of the task."""

HEAD = "def least_ms(n, instructions, lines, sms, mhz):\n"

CHEAP = {
    "a constant": HEAD + "    return 2\n",
    "nothing takes time": HEAD + "    return 0\n",
    "the clock alone": HEAD + "    return 1000 / mhz\n",
    "the size alone": HEAD + "    return n**3 / 10**9\n",
    "the SMs alone": HEAD + "    return 1 / sms\n",
    "the counts alone": HEAD + "    return max(instructions / 4, lines)\n",
}
