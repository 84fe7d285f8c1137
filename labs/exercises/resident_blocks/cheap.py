"""Submissions to `resident_blocks` that ignore the idea of the task."""

HEAD = "import math\n\n\ndef resident_blocks(threads, registers, shared_bytes):\n"

CHEAP = {
    "a constant": HEAD + "    return 8\n",
    "by threads alone": HEAD + "    return 2048 // threads\n",
    "by registers alone": HEAD + "    return 65_536 // (registers * threads)\n",
    "by shared memory alone": HEAD + "    return 233_472 // (shared_bytes + 1024)\n",
    "the most": HEAD + "    return 32\n",
}
