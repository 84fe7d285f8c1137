"""Submissions to `shared_for` that ignore the idea of the task."""

HEAD = "def shared_for(blocks, static_bytes):\n"

CHEAP = {
    "a constant": HEAD + "    return 57_344\n",
    "nothing to ask for": HEAD + "    return 0\n",
    "the whole SM": HEAD + "    return 232_448\n",
    "48 KiB": HEAD + "    return 48 * 1024 // blocks\n",
    "two cases": HEAD + "    return 232_448 if blocks < 2 else 115_712\n",
}
