"""Submissions to `conflict_free` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.families.cheap import naive_product, one_lane_after_the_other, products

INNER = """        for i in range(SIDE):
            total += tile_a[ty, i] * tile_b[tx, i]
"""

CHEAP = {
    **products("conflict_free", 32, 32, 1024),
    "naive, without tiles": naive_product("conflict_free", 32, 32, 1024),
    "the starter": file_beside(__file__, "starter"),
    "lanes one after the other": one_lane_after_the_other(file_beside(__file__, "starter"), INNER),
    "not transposed": [
        ("PADDED = 33", "PADDED = 32"),
        ("tile_b[tx, ty]", "tile_b[ty, tx]"),
        ("tile_b[tx, i]", "tile_b[i, tx]"),
    ],
}
