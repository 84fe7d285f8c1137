"""Submissions to `paired_reads` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.paired_reads.wrong import READ, STORE

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "straight from x": [(READ, ""), ("four[word]", "x[first + 4 * quad + word]")],
    "word by word": [(READ, ""), ("four[word]", "tile[4 * quad + word]")],
    "load4 from global memory": [("load4(tile, 4 * quad)", "load4(x, first + 4 * quad)")],
    "lane 0 does everything": [
        (READ, ""), (STORE, "if lane == 0:\n        for i in range(32):\n"
                     "            out[first + i] = tile[i]")],
    "eight lanes store quads": [
        (STORE, "if word == 0:\n        for i in range(4):\n"
         "            out[first + 4 * quad + i] = four[i]")],
}  # fmt: skip
