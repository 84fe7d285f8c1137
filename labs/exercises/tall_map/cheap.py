"""Submissions to `tall_map` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.tall_map.wrong import MAP, READS, mapped

GLOBAL_A = "a[row + down * 4], a[row + down * 4 + 1], a[row + down * 4 + 2], a[row + down * 4 + 3]"
GLOBAL_B = (
    "b[col + across * 4], b[col + across * 4 + 1], b[col + across * 4 + 2], b[col + across * 4 + 3]"
)
ALL = """    if lane == 0:
        for i in range(32):
            for j in range(16):
                c[row + i, col + j] = sa[i] * sb[j]
    if lane >= 0:
        return"""

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    "everything from global memory": [(READS, f"of_a, of_b = ({GLOBAL_A}), ({GLOBAL_B})")],
    "a from global memory": [(READS, f"of_a, of_b = ({GLOBAL_A}), load4(sb, across * 4)")],
    "load4 from global memory, and the slow map": [
        (READS, "of_a, of_b = load4(a, row + down * 4), load4(b, col + across * 4)"),
        *mapped("lane // 4", "lane % 4"),
    ],
    "one lane does everything": [(MAP, f"{MAP}\n{ALL}")],
    "row by row": mapped("lane // 4", "lane % 4"),
}
