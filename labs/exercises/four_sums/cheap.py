"""Submissions to `four_sums` that ignore the idea of the task."""

from labs.checking.variants import file_beside
from labs.exercises.four_sums.wrong import BODY
from labs.exercises.micro_kernel.cheap import CHEAP as OF_TWO_SUMS

CHEAP = {
    "the starter": file_beside(__file__, "starter"),
    **{
        name: OF_TWO_SUMS[name].replace("micro_kernel", "four_sums")
        for name in ("without vectors", "one row after the other", "sums in memory", "zeros")
    },
    "one step of two": [(BODY, BODY[: BODY.index("        row = loadu(b, 8 * p + 8")])],
}
