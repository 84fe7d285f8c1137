"""Other right answers to `four_loads`: changes of the solution that `check` accepts."""

from labs.exercises.four_loads.wrong import (
    BODY,
    FIRST,
    LOAD,
    LOADS,
    TEST,
    in_order,
    load,
    scalars,
    store,
)

HARMLESS = {
    "float64 in `values = cuda.local.array(4, float32)`": "the compiler takes it out",
    "constant_one_more in `values = cuda.local.array(4, float32)`": "a place that nobody uses",
}

RIGHT = {
    # Nothing is computed in float64: the compiler takes the way there and back out.
    "float64 places": [("array(4, float32)", "array(4, 'float64')")],
    "float64 by a zero": scalars(
        *(load(j).replace("float32(0)", "0.0") for j in range(4)), *map(store, range(4))
    ),
    "a place more": [("array(4,", "array(5,")],
    "four variables": in_order("l0 l1 l2 l3 s0 s1 s2 s3"),
    "tests by if": scalars(
        *(f"    if i{j} < n:\n        v{j} = x[i{j}]\n" for j in range(4)), *map(store, range(4))
    ),
    "by the grid": [(FIRST, "cuda.grid(1)"), ("256 * j", "cuda.gridsize(1) * j")],
    "by warps": [
        (FIRST, "cuda.grid(1) // 32 * 128 + cuda.threadIdx.x % 32"), ("256 * j", "32 * j"),
    ],
    "loads in reverse": [
        (LOADS, LOADS.replace("range(4)", "range(3, -1, -1)")),
    ],
    "beyond the end the last element": [
        (f"        {TEST}\n{LOAD}", "        values[j] = x[min(i, x.size - 1)]\n"),
    ],
    "a fast way for whole blocks": [
        (BODY, f"    i = {FIRST}\n    if i + 768 < x.size:\n"
         "        p, q, r, s = x[i], x[i + 256], x[i + 512], x[i + 768]\n"
         "        out[i], out[i + 256], out[i + 512], out[i + 768] = p, q, r, s\n"
         "    else:\n        while i < x.size:\n            out[i] = x[i]\n            i += 256\n"),
    ],
    "a step of the block's width": [("256 * j", "cuda.blockDim.x * j")],
    "the length of out": [("x.size", "out.size")],
    "while": [
        (LOADS, LOADS.replace("for j in range(4):", "j = 0\n    while j < 4:")
         + "        j += 1\n"),
    ],
    "in whatever order they are stored": in_order("l2 l0 l3 l1 s3 s1 s0 s2"),
}  # fmt: skip
