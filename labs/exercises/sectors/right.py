"""Other right answers to `sectors`: changes of the solution that `check` accepts."""

from labs.exercises.sectors.wrong import INDEX, LOOP

HARMLESS = {
    "constant_one_more in `for j in range(4):`": "the guard stops a fifth element",
}

RIGHT = {
    "in steps of a block": [(INDEX, "1024 * cuda.blockIdx.x + 256 * j + cuda.threadIdx.x")],
    "a loop over the grid": [(LOOP, "for i in range(thread, out.size, threads)"),
                             (f"        i = {INDEX}\n", "")],
    "backwards": [(INDEX, "thread + (3 - j) * threads")],
}  # fmt: skip
