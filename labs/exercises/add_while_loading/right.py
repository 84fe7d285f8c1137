"""Other right answers to `add_while_loading`: changes of the solution that `check` accepts."""

from labs.exercises.add_while_loading.wrong import FIRST, LOAD, PUT, SECOND, ZERO

RIGHT = {
    "a loop": [
        (LOAD + SECOND, f"{ZERO}    for j in range(2):\n        if i + j * BLOCK < x.size:\n"
                        "            total += x[i + j * BLOCK]\n"),
    ],
    "two tests": [(LOAD, f"{ZERO}    if i < x.size:\n        total += x[i]\n")],
    "both through shared memory": [
        (LOAD + SECOND + PUT, "    shared[tid] = x[i] if i < x.size else float32(0)\n"
         "    shared[tid] += x[i + BLOCK] if i + BLOCK < x.size else float32(0)\n"),
    ],
    "the second one first": [
        (FIRST, "i = cuda.blockIdx.x * (2 * BLOCK) + BLOCK + tid"), ("i + BLOCK", "i - BLOCK"),
    ],
    "the threads' own number of threads": [("(2 * BLOCK)", "(2 * cuda.blockDim.x)")],
}  # fmt: skip
HARMLESS = {"constant_one_more in `if tid == 0:`": "thread 1 may store the sum as well"}
