"""Other right answers to `scale`: changes of the solution that `check` accepts."""

from labs.exercises.scale.wrong import BODY, INDEX, STORE, TEST

RIGHT = {
    "the length of x": [("out.size", "x.size")],
    "len": [("out.size", "len(x)")],
    "shape": [("out.size", "x.shape[0]")],
    "block and thread": [(INDEX, "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x")],
    "a number for the block": [(INDEX, "256 * cuda.blockIdx.x + cuda.threadIdx.x")],
    "leaves first": [
        (BODY, f"    i = {INDEX}\n    if i >= out.size:\n        return\n    {STORE}\n"),
    ],
    "a stride of the grid": [
        (BODY, f"    i = {INDEX}\n    while {TEST}:\n        {STORE}\n"
         "        i += cuda.gridsize(1)\n"),
    ],
    "mirrored": [
        (BODY, f"    i = out.size - 1 - {INDEX}\n    if i >= 0:\n        {STORE}\n"),
    ],
    "other names": [
        ("(x, factor, out)", "(values, by, result)"),
        ("out.size", "result.size"),
        (STORE, "result[i] = values[i] * by"),
    ],
}  # fmt: skip
