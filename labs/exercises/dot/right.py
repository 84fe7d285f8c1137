"""Other right answers to `dot`: changes of the solution that `check` accepts."""

from labs.exercises.dot.wrong import INSIDE, LOAD, LOADED, LOOP, PLUS, STEP, STORE, WAIT

HARMLESS = {
    "constant_one_more in `BLOCK = 256`": "a word more is not used",
    f"float64 in `{LOAD.strip()}`": "0.0 becomes a float32 in shared memory",
    "constant_one_more in `if tid == 0:`": "thread 1 may store the sum as well",
}
RIGHT = {
    "a range": [(LOOP, f"    for step in range(8):\n        stride = 128 >> step\n{STEP}{WAIT}")],
    "zero first": [(LOAD, f"    shared[tid] = float32(0)\n{INSIDE}")],
    "each factor or zero": [
        (LOAD, "    of_x = x[i] if i < x.size else float32(0)\n"
         "    of_y = y[i] if i < y.size else float32(0)\n    shared[tid] = of_x * of_y\n"),
    ],
    "the total in a register": [
        (LOAD, "    total = float32(0)\n    if i < x.size:\n        total += x[i] * y[i]\n"
         "    shared[tid] = total\n"),
        (PLUS, "total += shared[tid + stride]\n            shared[tid] = total"),
    ],
    "the barrier at the head": [
        (STEP + WAIT, WAIT + STEP), (LOADED, LOAD), (STORE, f"    cuda.syncthreads()\n{STORE}"),
    ],
    "pairs from both ends": [("[tid + stride]", "[2 * stride - 1 - tid]")],
}  # fmt: skip
