"""A product on the GPU without a copy in the code."""

from collections.abc import Callable

from labs.host.exercise import Examination, HostExercise
from labs.host.host_device_traffic import MANAGED, examine_product


def examine(multiply: Callable) -> Examination:
    """Call the reader's function several times with new numbers, and return the outcome.

    Its cause is the first mistake that is found: a copy, a missing wait, a launch or the result.
    """
    fact = "The program copies nothing between host and device, and it waits after the launch."
    return examine_product(multiply, MANAGED, fact)


EXERCISE = HostExercise(
    name="without_copies",
    lesson="04",
    title="Without copies",
    text=(
        "`without_copies(kernel, a, b)` does the same as before, with managed memory. The starter "
        "has the three copies. Take them out: no copy may stand in your function, and a launch "
        "may copy nothing. About 7 lines.",
        "`cuda.managed_array(shape, dtype)` gives an array that host and device can both use. Its "
        "first content is arbitrary. On the host it is used as a NumPy array: `x[:] = a` stores "
        "the elements of a in it. A launch takes it as it is.",
    ),
    hints=(
        "You need three managed arrays. The host fills two of them before the launch.",
        "A launch returns at once. With `copy_to_host` it was the copy that waited for the kernel. "
        "Who waits now?",
        "The function `synchronize` of `cuda` waits until all that was launched has ended. After "
        "it, the host may read c: return the managed array itself.",
    ),
    after="Nothing is copied by your code. The bytes still have to move, page by page.",
    parameters=("kernel", "a", "b"),
    promises=("right at any shape", "no copy", "float32", "c is complete when it is returned"),
    examine=examine,
)
