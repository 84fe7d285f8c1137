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
    "At n = 4000, `x` has 4,000 elements.": {
        "one too far": [("< x.size", "<= x.size")],
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
    "which no thread has written": {"not stored": [(PUT, "")]},
    "reads shared[128], which no thread has written": {
        "threads without an element leave": [
            (ZERO, f"    if i >= x.size:\n        return\n{ZERO}")]},
    "256 threads, and your `BLOCK` is 512": {"another block": [("BLOCK = 256", "BLOCK = 512")]},
}  # fmt: skip
