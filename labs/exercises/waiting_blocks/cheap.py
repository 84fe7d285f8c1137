"""Submissions to `waiting_blocks` that ignore the idea of the task."""

HEAD = "def waiting_blocks(blocks, sms, per_sm):\n"

CHEAP = {
    "a constant": HEAD + "    return 263\n",
    "none": HEAD + "    return 0\n",
    "all": HEAD + "    return blocks\n",
    "all slots": HEAD + "    return sms * per_sm\n",
    "the lesser": HEAD + "    return min(blocks, sms * per_sm)\n",
    "always a free slot": HEAD + "    return sms * per_sm - 1\n",
    "all if they fit, else none": HEAD + "    return blocks if blocks <= sms * per_sm else 0\n",
    "the picture": HEAD + "    return 1\n",
}
