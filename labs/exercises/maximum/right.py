"""Other right answers to `maximum`: changes of the solution that `check` accepts."""

from labs.exercises.maximum.wrong import INSIDE, KEEP, LOAD, LOADED, LOOP, PAD, STEP, STORE, WAIT

HARMLESS = {
    "constant_one_more in `BLOCK = 256`": "a word more is not used",
    "constant_one_more in `if tid == 0:`": "thread 1 may store the result as well",
}
RIGHT = {
    "an if": [
        (STEP, "        if tid < stride and shared[tid] < shared[tid + stride]:\n"
         "            shared[tid] = shared[tid + stride]\n"),
    ],
    "a range": [(LOOP, f"    for step in range(8):\n        stride = 128 >> step\n{STEP}{WAIT}")],
    "minus infinity first": [(LOAD, f"    shared[tid] = {PAD}\n{INSIDE}")],
    "the last element beyond the end": [(LOAD, "    shared[tid] = x[min(i, x.size - 1)]\n")],
    "no padding": [(LOAD, INSIDE), ("tid < stride", "tid < stride and i + stride < x.size")],
    "the largest in a register": [
        (LOAD, LOAD.replace("shared[tid]", "best") + "    shared[tid] = best\n"),
        (KEEP, "other = shared[tid + stride]\n            best = best if best > other else other\n"
         "            shared[tid] = best"),
    ],
    "the barrier at the head": [
        (STEP + WAIT, WAIT + STEP), (LOADED, LOAD), (STORE, f"    cuda.syncthreads()\n{STORE}"),
    ],
    "pairs from both ends": [("[tid + stride]", "[2 * stride - 1 - tid]")],
}  # fmt: skip
