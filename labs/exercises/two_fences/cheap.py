"""Submissions to `two_fences` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.two_fences.wrong import ADD, DRAW, FENCE, LEAVE, SECOND, SPIN, STORE

BOTH = "        total = x[2 * pair] + x[2 * pair + 1]\n"
DRAWN = "    cuda.atomic.add(drawn, pair, 1)\n"

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "one fence": [(SECOND, "")],
    "a fence at each place": [
        (LEAVE, FENCE + LEAVE), (ADD, ADD + SECOND), (STORE, STORE + SECOND)],
    "both elements from x": [
        (LEAVE + FENCE, ""), (DRAW + SECOND + ADD, f"    if block % 2:\n{BOTH}")],
    "both elements from x, and the words left": [(SECOND + ADD, SECOND + BOTH)],
    "block 0 of each pair waits": [
        (DRAW, f"{DRAWN}    if block % 2 == 0:\n        {SPIN}            pass\n")],
    "the block with the odd number adds": [(DRAW, f"{DRAWN}    if block % 2 == 1:\n")],
}  # fmt: skip
