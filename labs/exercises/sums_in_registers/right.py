"""Other right answers to `sums_in_registers`: changes of the solution that `check` accepts."""

from labs.exercises.sums_in_registers.wrong import (
    FIRST,
    LAST,
    LOAD,
    MIDDLE,
    MINE,
    STORE,
    TAIL,
)

CLAMPED = MIDDLE.replace(
    f"            {TAIL}\n                {LOAD}", f"            {LOAD}"
).replace("b[i, col + 32 * j]", "b[i, min(col + 32 * j, n - 1)]")

COLUMNS = [(f"t{u}", f"col + {32 * u}") for u in range(8)]
SCALARS = "".join((
    "from numba import cuda, float32\n\n\n@cuda.jit\ndef sums_in_registers(a, b, c):\n",
    "    m, k = a.shape\n    n = b.shape[1]\n",
    "    row = cuda.blockIdx.y * 8 + cuda.threadIdx.y\n",
    "    col = cuda.blockIdx.x * 256 + cuda.threadIdx.x\n",
    "    if row >= m or col >= n:\n        return\n",
    *(f"    {total} = float32(0)\n" for total, _ in COLUMNS),
    "    i = 0\n    while i < k:\n        from_a = a[row, i]\n",
    *(
        f"        if {column} < n:\n            {total} += from_a * b[i, {column}]\n"
        for total, column in COLUMNS
    ),
    "        i += 1\n",
    *(f"    if {column} < n:\n        c[row, {column}] = {total}\n" for total, column in COLUMNS),
))  # fmt: skip

RIGHT = {
    "eight scalars": SCALARS,
    "loads of the last column": [(MIDDLE, CLAMPED)],
    "a test of j": [(FIRST, MINE + FIRST), (TAIL, "if j < mine:")],
    "a constant of its own": [(FIRST, "    MINE = 8\n" + FIRST), ("range(8)", "range(MINE)")],
    "a while loop up to 8": [
        (
            MIDDLE,
            f"        j = 0\n        while j < 8:\n            {TAIL}\n                {LOAD}\n"
            "            j += 1\n",
        )
    ],
    "a while loop up to mine": [
        (FIRST, MINE + FIRST),
        (
            MIDDLE,
            f"        j = 0\n        while j < mine:\n            {LOAD}\n            j += 1\n",
        ),
    ],
    "break": [
        (TAIL, f"if col + 32 * j >= n:\n{' ' * 16}break"),
        (f"    {LOAD}", LOAD),
        (f"    {STORE}", STORE),
    ],
    "stores up to mine": [
        (FIRST, MINE + FIRST),
        (LAST, f"    for j in range(mine):\n        {STORE}\n"),
    ],
}

HARMLESS = {
    "one_too_far in `if row >= m or col >= n:`": "the test of each column stops column n",
    "float64 in `totals[j] = float32(0)`": "what is stored in a float32 array is float32",
    "constant_one_more in `totals = cuda.local.array(8, float32)`": "a spare total is not used",
}
