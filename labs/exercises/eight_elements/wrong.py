"""Wrong answers to `eight_elements`: what `check` says, and the changes that earn it."""

FIRST = "i = uint32(cuda.blockIdx.x) * (8 * BLOCK) + tid"
ZERO = "    total = float32(0)\n"
LOOP = "    for j in range(8):\n"
TEST = "        if i + j * BLOCK < x.size:\n"
ADD = "            total += x[i + j * BLOCK]\n"
PUT = "    shared[tid] = total\n"
LOAD = ZERO + LOOP + TEST + ADD


def load(new: str) -> list[tuple[str, str]]:
    """Return the change that replaces the load of the eight elements."""
    return [(LOAD, new)]


WRONG = {
    "This sum lacks 1536 of its 2048 elements: `{x}[512]` to `{x}[2047]`. In all, 1,024 words of "
    "`{x}` are loaded, and it has 4,096.": {
        "the starter": [
            (FIRST, "i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid"),
            *load("    total = x[i] if i < x.size else float32(0)\n"
                  "    if i + BLOCK < x.size:\n        total += x[i + BLOCK]\n")]},
    "This sum lacks 1024 of its 2048 elements: `{x}[1024]` to `{x}[2047]`.": {
        "four elements": [("range(8)", "range(4)")]},
    "1,536 additions to this sum take elements from `{x}[0]` to `{x}[2047]`. These belong to block "
    "0, whose sum is `{partials}[0]`.": {
        "the first element of two": [("(8 * BLOCK)", "(2 * BLOCK)")]},
    "1,024 additions to this sum take elements from `{x}[2048]` to `{x}[4095]`. These belong to "
    "block 1, whose sum is `{partials}[1]`.": {
        "over the whole grid": [
            (FIRST, "i = cuda.grid(1)"),
            *load(f"{ZERO}    for k in range(i, x.size, cuda.gridsize(1)):\n"
                  "        total += x[k]\n")],
        "pairs over the whole grid": [
            (FIRST, "i = uint32(cuda.blockIdx.x) * (2 * BLOCK) + tid"),
            *load(f"{ZERO}    while i < x.size:\n        total += x[i]\n"
                  "        if i + BLOCK < x.size:\n            total += x[i + BLOCK]\n"
                  "        i += uint32(cuda.gridDim.x) * (2 * BLOCK)\n")]},
    "2,048 additions to this sum take elements from `{x}[2048]` to `{x}[4095]`. These belong to "
    "block 1, whose sum is `{partials}[1]`.": {
        "to the end of x": load(f"{ZERO}    while i < x.size:\n        total += x[i]\n"
                                "        i += BLOCK\n")},
    "8 words apart": {
        "eight neighbours": [
            (FIRST, "i = 8 * (uint32(cuda.blockIdx.x) * BLOCK + tid)"),
            (TEST + ADD, (TEST + ADD).replace("j * BLOCK", "j"))]},
    "That is one too far: the elements have the numbers 0 to 3999. A test that lets 4000 pass has "
    "`<=` for `<`, or `>` for `>=`.": {"one too far": [("< x.size", "<= x.size")]},
    "2 blocks of 256 threads with 8 elements each reach 4,096 elements, and there are 4,000. "
    "Nothing keeps this thread from going there, or what does compares something else.": {
        "no test": [(TEST + ADD, ADD[4:])],
        "one test for all": load(f"{ZERO}    if i < x.size:\n    {LOOP}{ADD}")},
    "This sum lacks 1792 of its 2048 elements: `{x}[0]` to `{x}[1791]`. They are loaded. What "
    "becomes of them?": {"set and not added": [("total += x", "total = x")]},
    "What can a thread keep in a local variable until then?": {
        "a sum in shared memory": [
            (LOAD + PUT, "    shared[tid] = float32(0)\n"
             + (LOOP + TEST + ADD).replace("total", "shared[tid]"))]},
    "works in float64": {
        "float64": [(ZERO, "    total = 0.0\n")], "a whole number": [(ZERO, "    total = 0\n")]},
    "`{x}[0]` counts 8 times in this sum, and not once.": {
        "the same element again": [("total += x[i + j * BLOCK]", "total += x[i]")]},
    "Which thread should have stored this word?": {"not stored": [(PUT, "")]},
    "Some threads leave at `return` in line {return} before they store their word. The barrier "
    "does not wait for threads that have ended, and the tree adds the words of all threads.": {
        "threads without an element leave": [
            (ZERO, f"    if i >= x.size:\n        return\n{ZERO}")]},
    "256 threads, and your `BLOCK` is 512": {"another block": [("BLOCK = 256", "BLOCK = 512")]},
}  # fmt: skip
