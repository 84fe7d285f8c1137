"""Submissions to `attainable` that ignore the idea of the task."""

HEAD = "import math\n\n\ndef attainable(BM, BN, peak, bandwidth):\n"

CHEAP = {
    "the peak": HEAD + "    return peak\n",
    "the bandwidth": HEAD + "    return bandwidth\n",
    "a constant": HEAD + "    return 32_000\n",
    "square tiles alone": HEAD + "    return min(peak, BM / 4 * bandwidth)\n",
    "no peak": HEAD + "    return BM * BN / (2 * (BM + BN)) * bandwidth\n",
    "the intensity alone": HEAD + "    return BM * BN / (2 * (BM + BN))\n",
}
