"""Submissions to `lane_map` that ignore the idea of the task."""

from labs.exercises.lane_map.wrong import MAP, READS, mapped

GLOBAL_A = "a[row + down * 4], a[row + down * 4 + 1], a[row + down * 4 + 2], a[row + down * 4 + 3]"
GLOBAL_B = (
    "b[col + across * 4], b[col + across * 4 + 1], b[col + across * 4 + 2], b[col + across * 4 + 3]"
)
BODY = """    if lane == 0:
        for i in range(16):
            for j in range(32):
                c[row + i, col + j] = sa[i] * sb[j]
"""

CHEAP = {
    "everything from global memory": [(READS, f"of_a, of_b = ({GLOBAL_A}), ({GLOBAL_B})")],
    "b from global memory": [(READS, f"of_a, of_b = load4(sa, down * 4), ({GLOBAL_B})")],
    "a from global memory": [(READS, f"of_a, of_b = ({GLOBAL_A}), load4(sb, across * 4)")],
    "load4 from global memory, and the slow map": [
        (READS, "of_a, of_b = load4(a, row + down * 4), load4(b, col + across * 4)"),
        *mapped("lane // 8", "lane % 8"),
    ],
    "the slow map": mapped("lane // 8", "lane % 8"),
    "one lane does everything": [
        (MAP, MAP + "\n" + BODY.rstrip() + "\n    if lane >= 0:\n        return")
    ],
}
