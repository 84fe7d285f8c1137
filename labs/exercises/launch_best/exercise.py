"""Host code that finds the best block size and launches a kernel with it."""

from functools import partial

from gemm_kernels.naive import naive
from labs.host.exercise import HostExercise
from labs.host.launches import examine_launches

EXERCISE = HostExercise(
    name="launch_best",
    lesson="08",
    title="Launch with the best block",
    text=(
        "Write `launch_best(kernel, registers, a, b, c)`. The kernel is `dynamic_tiles`: it keeps "
        "two square tiles of float32, as wide as the block, in the memory that the launch asks "
        "for; the compiler gave each of its threads `registers` registers. Find the block with the "
        "most resident threads on an SM of an H200, round it down to a square whose side is a "
        "power of two, launch the kernel with it once, and return the side. About 4 lines; call "
        "your `best_block`, `square_side` and `required_shared`.",
        "In Numba a launch with memory of its own is `kernel[grid, block, stream, bytes](a, b, "
        "c)`; the stream is 0. `x` counts the columns of `c` and `y` its rows; the grid is rounded "
        "up to whole blocks. Print the side if you like: the check looks at what is returned. "
        "(CUDA has one call for the search. Numba's method for it does not search in this version, "
        "so you call what you have written.)",
    ),
    parameters=("kernel", "registers", "a", "b", "c"),
    promises=("the best block for eight kernels", "a grid that covers c", "the bytes of two tiles"),
    examine=partial(examine_launches, naive),
    hints=(
        "How many bytes does the shared memory grow by with each thread of the block? Each thread "
        "keeps one float32 of either tile.",
        "`best_block` gives a number of threads, `square_side` the side, and `required_shared` of "
        "the side the bytes.",
        "`-(-x // side)` is `x / side`, rounded up.",
    ),
    after="Compile, look at the registers, search, launch: that is the host half of the lab.",
)
