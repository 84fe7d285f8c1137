"""A product on the GPU with as few copies as possible."""

from collections.abc import Callable

from labs.host.exercise import Examination, HostExercise
from labs.host.host_device_traffic import COPIED, examine_product


def examine(multiply: Callable) -> Examination:
    """Call the reader's function several times with new numbers, and return the outcome.

    Its cause is the first mistake that is found in a copy, a launch or the result.
    """
    fact = "Each array crosses the bus once: `a` and `b` to the device, `c` back."
    return examine_product(multiply, COPIED, fact)


EXERCISE = HostExercise(
    name="to_the_gpu_and_back",
    lesson="04",
    title="To the GPU and back",
    text=(
        "`to_the_gpu_and_back(kernel, a, b)` gets a kernel and two NumPy arrays, float32: a is m×k "
        "and b is k×n. It returns c = a·b, m×n, as a NumPy array. Grid and block are given, and "
        "`kernel[grid, block](a, b, c)` computes all of c.",
        "The function below gives a right result. But it lets the launch do the copies. Write the "
        "copies yourself, so that each array crosses the bus once: a and b to the device, c back "
        "to the host. About 5 lines.",
    ),
    hints=(
        "The kernel reads a and b, and it stores every element of c. Which arrays does the GPU "
        "need before the launch, and which one do you need after it?",
        "Does `cuda.to_device(x)` change x? It returns something: what does the launch have to "
        "get?",
        "c needs memory on the device, and no copy to it. Which type do its elements have if you "
        "give `cuda.device_array` only a shape?",
    ),
    after="You need no `cuda.synchronize()`: `copy_to_host` waits until the kernel has ended.",
    parameters=("kernel", "a", "b"),
    promises=("right at any shape", "3 copies, each array once", "float32 on its whole way"),
    examine=examine,
)
