"""Other right answers to `paired_reads`: changes of the solution that `check` accepts."""

from labs.exercises.paired_reads.wrong import mapped

RIGHT = {
    "next neighbours but one": mapped("lane // 8 * 2 + lane % 2", "lane // 2 % 4"),
    "pairs in both halves": mapped("lane // 2 % 8", "lane // 16 * 2 + lane % 2"),
    "by bits": mapped("lane >> 2", "lane & 3"),
    "a barrier of the block": [("syncwarp", "syncthreads")],
}

HARMLESS = {
    "constant_one_more in `tile = cuda.shared.array(32, float32, alignment=16)`": "a spare word",
}
