"""Other right answers to `stage_ready`: changes of the solution that `check` accepts."""

from labs.exercises.stage_ready.wrong import BOTH, COMMIT, MMA, WAIT

HARMLESS = {
    "constant_one_more in `sums = cuda.local.array": "an element more is not used",
    "constant_one_more in `of_a = cuda.local.array": "an element more is not used",
    "constant_one_more in `of_b = cuda.local.array": "an element more is not used",
    "constant_one_more in `sa = cuda.shared.array": "longer",
    "constant_one_more in `sb = cuda.shared.array": "longer",
    "size_one_less in `if start": "start is a multiple of 16",
    "constant_one_less in `if start >= 32": "start is a multiple of 16",
    "constant_one_less in `for start in range(0, k + 32, 16)": "start is a multiple of 16",
    "constant_one_more in `new, ready": "start is a multiple of 16",
    "constant_one_more in `ldmatrix_x2_trans(": "only lanes 0 to 15 give rows",
    "float64 in `sums[i] = float32(0)`": "the local array makes a float32 of it",
}  # fmt: skip

RIGHT = {
    "both at the end": [(BOTH, ""), (MMA, MMA + BOTH)],
    "the wait at the end": [(WAIT, ""), (MMA, MMA + WAIT)],
    "the wait below the copies": [(WAIT, ""), (COMMIT, COMMIT + WAIT)],
    "all copies waited for in the last iteration": [
        (WAIT, "        if start < k + 16:\n"
         f"    {WAIT}        else:\n    {WAIT.replace('1', '0')}")],
    "the first wait left out": [(WAIT, f"        if start > 0:\n    {WAIT}")],
}  # fmt: skip
