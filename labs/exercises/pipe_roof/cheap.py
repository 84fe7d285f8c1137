"""Submissions to `pipe_roof` that ignore the idea of the task."""

from labs.checking.variants import file_beside

HEAD = "import math\n\n\ndef pipe_roof(multiply_adds, rows, broadcasts, peak, bandwidth):\n"

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "the peak": HEAD + "    return peak\n",
    "the bandwidth": HEAD + "    return bandwidth\n",
    "a constant": HEAD + "    return 8_000\n",
    "rows alone": HEAD + "    return min(peak, multiply_adds / max(1, rows) / 2 * bandwidth)\n",
    "a quarter of the bandwidth": HEAD + "    return min(peak, bandwidth / 4)\n",
}  # fmt: skip
