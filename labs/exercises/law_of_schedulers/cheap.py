"""Submissions to `law_of_schedulers` that ignore the idea of the task."""

from labs.checking.variants import file_beside

HEAD = "import math\n\n\ndef law_of_schedulers(threads, chains):\n"

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "the peak": HEAD + "    return 100\n",
    "half for two warps": HEAD + "    return min(50 if threads < 128 else 100, "
                                 "100 * threads * chains / 512)\n",
    "a constant": HEAD + "    return 50\n",
    "the warps alone": HEAD + "    return min(100, 100 * threads / 512)\n",
}  # fmt: skip
