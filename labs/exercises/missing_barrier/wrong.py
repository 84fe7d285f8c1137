"""Wrong answers to `missing_barrier`: what `check` says, and the changes that earn it."""

HEAD = "    while stride < cuda.blockDim.x:\n"
WAIT = "        cuda.syncthreads()\n"
TEST = "        if tid % uint32(2 * stride) == 0:\n"
ADD = "            shared[tid] += shared[tid + stride]\n"
DOUBLE = "        stride = uint32(2 * stride)\n"
STORE = "    if tid == 0:\n"


def moved(line: str, new: str) -> list[tuple[str, str]]:
    """Return the changes that take the barrier away and replace a line."""
    return [(WAIT, ""), (line, new)]


WRONG = {
    "`if tid % uint32(2 * stride) == 0`": {
        "place 3": moved(ADD, f"    {WAIT}{ADD}")},
    "Nothing makes the threads wait from one iteration of line {line} to the next: this word may "
    "be read before the other thread has finished it.": {
        "place 1": moved(HEAD, f"    cuda.syncthreads()\n{HEAD}")},
    "Nothing makes the threads wait between line {other_line}, which stores this word, and line "
    "{line}, which reads it: it may be read before it is there.": {
        "place 4": moved(DOUBLE, WAIT + DOUBLE),
        "at the end of the loop": moved(DOUBLE, DOUBLE + WAIT),
        "after the loop": moved(STORE, f"    cuda.syncthreads()\n{STORE}"),
        "after the addition in the branch": moved(ADD, f"{ADD}    {WAIT}"),
        "no barrier": [(WAIT, "")]},
    "each block passes 9 barriers": {
        "places 1 and 4": [
            *moved(HEAD, f"    cuda.syncthreads()\n{HEAD}"), (DOUBLE, WAIT + DOUBLE)]},
    "each block passes 16 barriers": {"places 2 and 4": [(DOUBLE, WAIT + DOUBLE)]},
    "`syncwarp` in line {syncwarp} makes the 32 threads of a warp wait for each other. The block "
    "has 8 warps.": {"the barrier of a warp": [("syncthreads", "syncwarp")]},
    "names the barrier and does not call it": {"no brackets": [("syncthreads()", "syncthreads")]},
    "Some threads of this block have no element of `{x}` and store no word. But the tree adds "
    "their words, too.": {
        "no zero beyond the end": [
            ("    shared[tid] = x[i] if i < x.size else float32(0)\n",
             "    if i < x.size:\n        shared[tid] = x[i]\n")]},
}
