"""Submissions to `cut_along_k` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.cut_along_k.wrong import GUARD, LOOP, START, STORE, TERM, loop

ALONE = """\
    if row < m and col < n and piece == 0:
        for other in range(SLICES):
            total = float32(0)
            for i in range(other * k // SLICES, (other + 1) * k // SLICES):
                total += a[row, i] * b[i, col]
            partials[other, row, col] = total
"""

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "the whole product in every slice": loop("0", "k"),
    "the whole product in slice 0": [
        (LOOP, "        for i in range(0 if piece == 0 else k, k):\n")],
    "one thread adds all slices": [
        (GUARD, ALONE), ("        total = float32(0)\n" + LOOP + TERM + STORE, "")],
    "sums of integers": [
        (START, "        total = 0\n"),
        (TERM, "            total += int(a[row, i]) * int(b[i, col])\n")],
    "loads all terms and keeps a quarter": [
        (LOOP, "        for i in range(k):\n"),
        (TERM, "            term = a[row, i] * b[i, col]\n"
         "            if piece * k // SLICES <= i < (piece + 1) * k // SLICES:\n"
         "                total += term\n")],
}  # fmt: skip
