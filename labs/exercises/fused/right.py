"""Other right answers to `fused`: changes of the solution that `check` accepts."""

from labs.exercises.fused.wrong import LINES, STORE, TEST, VALUE

RIGHT = {
    "an if": [(STORE, "if value < 0:\n            value = float32(0)\n        out[i] = value")],
    "two stores": [(STORE, "if value > 0:\n            out[i] = value\n        else:\n"
                           "            out[i] = 0")],
    "a choice": [(STORE, "out[i] = value if value > 0 else 0")],
    "a plain zero": [(STORE, "out[i] = max(0, value)")],
    "a zero with a point": [(STORE, "out[i] = max(value, 0.0)")],
    "three steps": [(VALUE, "value = x[i] - mean\n        value *= scale\n        value += y[i]")],
    "one expression": [(LINES, "        out[i] = max((x[i] - mean) * scale + y[i], float32(0))\n")],
    "loads written twice": [(LINES, "        if (x[i] - mean) * scale + y[i] > 0:\n"
                                    "            out[i] = (x[i] - mean) * scale + y[i]\n"
                                    "        else:\n            out[i] = 0.0\n")],
    "an early return": [(TEST, "if i >= x.size:\n        return\n    if True:")],
    "the shape": [(TEST, "if i < x.shape[0]:")],
    "the index by hand": [("cuda.grid(1)", "cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x")],
    "a grid-stride loop": [
        (f"    {TEST}\n", "    for i in range(i, out.size, cuda.gridsize(1)):\n")],
    "a multiply-add": [(VALUE, "value = cuda.fma(x[i] - mean, scale, y[i])")],
    "half of the sum and its size": [(STORE, "out[i] = (value + abs(value)) / 2")],
}  # fmt: skip
