"""Ten products of the same matrices, with three copies in all."""

from collections.abc import Callable

from labs.checking.phrasing import counted
from labs.host.exercise import Examination, HostExercise
from labs.host.host_device_traffic import COPIED, examine_product, wrong_launch_count
from labs.host.products import ProductCall

LAUNCHES = 10


def wrong_number_of_launches(call: ProductCall) -> str | None:
    """Return sentences unless the kernel is launched ten times, else None."""
    if not call.launches:
        return wrong_launch_count(call)
    if len(call.launches) != LAUNCHES:
        return (
            f"The kernel is launched {counted(len(call.launches), 'time')}, and the benchmark "
            f"needs {LAUNCHES} launches. Leave the launch in the loop."
        )
    return None


def examine(multiply: Callable) -> Examination:
    """Call the reader's function several times with new numbers, and return the outcome.

    Its cause is the first mistake that is found in a launch, a copy or the result.
    """
    probes = (wrong_number_of_launches, *(one for one in COPIED if one is not wrong_launch_count))
    fact = "Ten launches, and each array crosses the bus once."
    return examine_product(multiply, probes, fact)


EXERCISE = HostExercise(
    name="copy_once",
    lesson="04",
    kind="repair",
    title="Ten products, three copies",
    text=(
        "The source multiplies the same two matrices ten times, as a benchmark. "
        "`copy_once(kernel, a, b)` does this, too, and its result is right. But it makes 30 "
        "copies. Repair it: launch the kernel ten times, and let each array cross the bus once.",
        "No new line is needed, because it is enough to move lines.",
    ),
    hints=(
        "Which of the lines in the loop give the same result each time? Python executes a line "
        "once if it is not in the loop.",
        "The kernel only reads a and b, so they are still on the device at the second launch.",
        "Each launch stores the whole of c. After which launch does the host need it?",
    ),
    after="Data that stay on the device cost nothing at the next launch.",
    parameters=("kernel", "a", "b"),
    promises=("right at any shape", "10 launches", "3 copies, each array once"),
    examine=examine,
)
