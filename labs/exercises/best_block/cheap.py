"""Submissions to `best_block` that ignore the idea of the task."""

HEAD = "import math\n\n\ndef best_block(registers, bytes_per_thread):\n"

CHEAP = {
    "the largest block": HEAD + "    return 1024\n",
    "a usual block": HEAD + "    return 256\n",
    "by registers alone": HEAD + "    return min(1024, 65_536 // registers // 32 * 32)\n",
    "the smallest block": HEAD + "    return 32\n",
    "two sizes": HEAD + "    return 1024 if registers <= 32 else 512\n",
}
