"""Other right answers to `cut_along_k`: changes of the solution that `check` accepts."""

from labs.exercises.cut_along_k.wrong import BEGIN, END, GUARD, LOOP, PIECE, PLACE, STORE, TERM

RIGHT = {
    "a while loop": [
        (LOOP, f"        i = {BEGIN}\n        while i < {END}:\n"),
        (TERM, TERM + "            i += 1\n")],
    "names for both ends": [
        (LOOP, f"        first = {BEGIN}\n        last = {END}\n"
         "        for i in range(first, last):\n")],
    "an early return": [
        (GUARD, "    if row >= m or col >= n:\n        return\n    if True:\n")],
    "all three numbers by grid": [
        ("    col, row = cuda.grid(2)\n" + PIECE, "    col, row, piece = cuda.grid(3)\n")],
    "the number of slices from the grid": [("// SLICES", "// cuda.gridDim.z")],
    "the number of slices from the array": [("// SLICES", "// partials.shape[0]")],
    "backwards": [(LOOP, f"        for i in range({END} - 1, {BEGIN} - 1, -1):\n")],
    "with parentheses": [(BEGIN, "(k * piece) // SLICES")],
    "by the block's numbers": [
        ("    col, row = cuda.grid(2)\n",
         "    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x\n"
         "    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y\n")],
    "a view of one slice": [
        (STORE, "        mine = partials[piece]\n        mine[row, col] = total\n")],
    "two indices": [(PLACE, "[piece][row, col]")],
}  # fmt: skip
