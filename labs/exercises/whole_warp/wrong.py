"""Wrong answers to `whole_warp`: what `check` says, and the changes that earn it."""

CLEAR = "    for i in range(4):\n        sums[i] = float32(0)\n"
LOOP = "    for start in range(0, k, 8):\n"
MMA = "        mma_m16n8k8(sums, of_a, of_b)\n"
GUARD = "        if y < m and x < n:\n            c[y, x] = sums[i]\n"
STORE = "        c[y, x] = sums[i]\n"
OUTSIDE = "        if y >= m or x >= n:\n"
CORNER = "row + group >= m or col + pair >= n"
OF_A = "a[y, z] if y < m and z < k else float16(0.0)"
OF_B = "b[z, x] if z < k and x < n else float16(0.0)"
MISSING = "all 32 lanes must take part"

WRONG = {
    MISSING: {
        "place 1": [(CLEAR, f"    if {CORNER}:\n        return\n{CLEAR}"), (GUARD, STORE)],
        "places 1 and 4": [(CLEAR, f"    if {CORNER}:\n        return\n{CLEAR}")],
        "place 2": [(LOOP, f"{LOOP}        if {CORNER}:\n            break\n")],
        "place 2, going on": [(LOOP, f"{LOOP}        if {CORNER}:\n            continue\n")],
        "place 3": [(MMA, f"        if row + group < m and col + pair < n:\n    {MMA}")]},
    "No guard is left for the sums beyond an edge. A test of `row` and `col` is none, because a "
    "block's corner is always inside of `{c}`.": {
        "no guard": [(GUARD, STORE)],
        "a guard of the corner": [(CLEAR, f"    if row >= m or col >= n:\n        return\n{CLEAR}"),
                                  (GUARD, STORE)]},
    "goes to `c[35, 0]`": {
        "compared with k": [("if y < m and x < n:\n", "if y < k and x < n:\n")]},
    "goes to `c[0, 20]`": {
        "one column too many": [("if y < m and x < n:\n", "if y < m and x <= n:\n")]},
    "Your guard tests the columns alone, and some of the rows are beyond `c`, too.": {
        "a guard for columns alone": [("if y < m and x < n:\n", "if x < n:\n")]},
    "Your guard tests the rows alone, and some of the columns are beyond `c`, too.": {
        "a guard for rows alone": [("if y < m and x < n:\n", "if y < m:\n")]},
    "With `or` an element is stored if one of its two indices is inside. Both must be.": {
        "or": [("if y < m and x < n:\n", "if y < m or x < n:\n")]},
    "Your guard asks for the lane's first row alone, and two of its sums are eight rows below.": {
        "the first row": [("if y < m and x < n:\n", "if row + group < m and x < n:\n")]},
    "A lane's first sum beyond an edge ends the loop for its other sums, too. Which of its four "
    "sums are still in `{c}`?": {
        "return at the first": [(GUARD, f"{OUTSIDE}            return\n{STORE}")],
        "break at the first": [(GUARD, f"{OUTSIDE}            break\n{STORE}")]},
    "Rows and columns are exchanged in your guard.": {
        "exchanged": [("if y < m and x < n:\n", "if y < n and x < m:\n")]},
    "At k = 44 every sum lacks the terms i = 40": {
        "whole steps of k alone": [(LOOP, "    for start in range(0, k - 7, 8):\n")]},
    "At k = 40 every sum lacks the terms i = 0": {
        "cleared in the loop": [(LOOP, f"{LOOP}        for i in range(4):\n"
                                 "            sums[i] = float32(0)\n")]},
    "goes to `a[0, 44]`": {
        "k of a without a guard": [(OF_A, OF_A.replace(" and z < k", ""))]},
    "goes to `b[44, 0]`": {
        "k of b without a guard": [(OF_B, OF_B.replace("z < k and ", ""))]},
    "uses of_b[2]; dimension 0 of of_b has 2 elements": {
        "a and b exchanged": [(MMA, "        mma_m16n8k8(sums, of_b, of_a)\n")]},
    "You load `{b}` by rows, as `{a}` is loaded. The guard was to be moved, and this line was "
    "right.": {
        "the map of b turned": [("z, x = start + pair + i, col + group",
                                 "z, x = start + group, col + pair + i")]},
}  # fmt: skip
