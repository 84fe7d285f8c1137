"""The right answers of the questions for a show of hands, computed.

`COMPUTED` has the name of a session and the number of the question -> a function that returns the
text of the right answer, or a number that this text contains.
"""

from collections.abc import Callable

from reduce_kernels import LADDER
from reduce_kernels.remainder import recorded_times
from utils import lessons as course

COMPUTED: dict[tuple[str, int], Callable[[], object]] = {}


def answer(session: str, number: int) -> Callable:
    """Return a decorator that puts a function into `COMPUTED`."""

    def kept(function: Callable) -> Callable:
        COMPUTED[session, number] = function
        return function

    return kept


@answer("18", 1)
def warps_that_add_in_the_second_step() -> int:
    """Each warp with a lane that adds loads the words of its pairs, in one request per step."""
    seen = course.watch(LADDER.step("reduce0").variant(BLOCK=256), "1024", record=0)
    return course.loads_by_step(seen, "shared")[1].requests


@answer("18", 2)
def milliseconds_without_the_remainder() -> str:
    """The recorded time of 2^30 elements."""
    times = {row.kernel: row.time_ms for row in recorded_times() if row.elements == 2**30}
    return f"about {times['without_remainder']:.1f} ms"
