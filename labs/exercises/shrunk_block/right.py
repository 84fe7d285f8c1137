"""Other right answers to `shrunk_block`: changes of the solution that `check` accepts."""

from labs.exercises.shrunk_block.wrong import GUARD, ROW

RIGHT = {
    "four times the threads": [(ROW, "cuda.blockIdx.y * 4 * cuda.blockDim.y + ty")],
    "neighbouring rows": [(ROW, "cuda.blockIdx.y * 32 + 4 * ty"), ("row + 8 * g", "row + g")],
    "the shape of x": [("out.shape", "x.shape")],
    "two guards": [(f"if {GUARD}:\n            out", "if r >= out.shape[0] or col >= out.shape[1]:"
                    "\n            continue\n        if True:\n            out")],
}  # fmt: skip
