"""Other right answers to `last_warp`: changes of the solution that `check` accepts."""

from labs.exercises.last_warp.wrong import ADD, ALL, GIVE, GUARDED, HALVE, LOOP, TAKE, WAIT, loop

STRIDES = (32, 16, 8, 4, 2, 1)

HARMLESS = {
    "guard_dropped in `if tid < 32:`": "the other warps only wait",
    "constant_one_more in `while stride > 32:`": "33 is no stride",
    "constant_one_more in `if tid == 0:`": "thread 1 reads word 0 after the last wait",
    "constant_one_more in `BLOCK = 256`": "a word more is not used",
    "float64 in `shared[tid] = x[i] if i < x.size else float32(0)`":
        "0.0 becomes a float32 in shared memory",
}  # fmt: skip

RIGHT = {
    "the wait first": loop(WAIT + GUARDED + HALVE),
    "the wait last": loop(GUARDED + HALVE + WAIT),
    "all lanes add, and wait twice": loop(TAKE + WAIT + GIVE + WAIT + HALVE),
    "the sum in a variable": loop(
        f"{ALL.replace('shared[tid] +=', 'value = shared[tid] +')}{WAIT}"
        f"            shared[tid] = value\n{WAIT}{HALVE}"
    ),
    "a mask": loop(GUARDED + WAIT.replace("()", "(0xFFFFFFFF)") + HALVE),
    "a loop over the strides": [
        (LOOP, f"        for stride in {STRIDES}:\n{GUARDED}{WAIT}"),
    ],
    "written out": [
        (LOOP, "".join(f"{GUARDED}{WAIT}".replace("    " * 3, "    " * 2, 1)
                       .replace(ADD, ADD[4:]).replace(WAIT, WAIT[4:]).replace("stride", str(stride))
                       for stride in STRIDES)),
    ],
    "shuffles": [
        (LOOP, "        total = shared[tid] + shared[tid + 32]\n        for step in range(5):\n"
         "            total += cuda.shfl_down_sync(0xFFFFFFFF, total, 16 >> step)\n"
         "        if tid == 0:\n            shared[0] = total\n"),
    ],
}  # fmt: skip
