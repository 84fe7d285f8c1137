"""Wrong answers to `last_warp`: what `check` says, and the changes that earn it."""

ADD = "                shared[tid] += shared[tid + stride]\n"
WAIT = "            cuda.syncwarp()\n"
HALVE = "            stride = stride >> uint32(1)\n"
HEAD = "        while stride > 0:\n"
WHILE_ADDING = "        while stride > tid:\n"
GUARDED = f"            if tid < stride:\n{ADD}"
ALL = "            shared[tid] += shared[tid + stride]\n"
TAKE = "            other = shared[tid + stride]\n"
GIVE = "            shared[tid] += other\n"
LOOP = f"{HEAD}{GUARDED}{WAIT}{HALVE}"


def loop(body: str) -> list[tuple[str, str]]:
    """Return the change that gives the last loop this body."""
    return [(LOOP, HEAD + body)]


WRONG = {
    "Nothing makes the threads wait from one iteration of line {line} to the next: this word may "
    "be read before the other thread has finished it.": {
        "the starter": loop(ALL + HALVE),
        "fewer lanes without a wait": loop(GUARDED + HALVE),
        "a wait before the loop": [(LOOP, f"        cuda.syncwarp()\n{HEAD}{GUARDED}{HALVE}")],
        "a wait after the loop": [(LOOP, f"{HEAD}{GUARDED}{HALVE}        cuda.syncwarp()\n")],
        "a fence": loop(GUARDED + WAIT.replace("syncwarp", "threadfence_block") + HALVE)},
    "One lane reads this word and another lane stores it, and both happen in the same step. Does "
    "anybody need what is stored there?": {
        "a wait, and all lanes add": loop(ALL + WAIT + HALVE),
        "a wait at the head, and all lanes add": loop(WAIT + ALL + HALVE),
        "a wait at the end, and all lanes add": loop(ALL + HALVE + WAIT),
        "half of the lanes would be enough": loop(
            GUARDED.replace("tid < stride", "tid < 2 * stride") + WAIT + HALVE),
        "a wait after the store alone": loop(TAKE + GIVE + WAIT + HALVE)},
    "The store is that of the step before, and nothing makes the lanes wait between the two "
    "steps.": {
        "a wait after the read alone": loop(TAKE + WAIT + GIVE + HALVE)},
    "The barrier stands in the branch `if tid < stride`": {
        "the wait in the branch": loop(GUARDED + f"    {WAIT}" + HALVE)},
    "The barrier stands in the loop of line": {
        "a loop that lanes leave earlier": [(LOOP, f"{WHILE_ADDING}{ALL}{WAIT}{HALVE}")],
        "a loop that lanes leave earlier, and the wait last": [
            (LOOP, f"{WHILE_ADDING}{ALL}{HALVE}{WAIT}")]},
    "instead. Put the call outside of the `if`": {
        "a wait in both branches": loop(
            f"{GUARDED}    {WAIT}            else:\n    {WAIT}{HALVE}")},
    "does not name this lane. The mask must name all lanes that come here: 0xffffffff.": {
        "a mask of lane 0 alone": loop(GUARDED + WAIT.replace("()", "(1)") + HALVE)},
    "`if tid < 32`": {
        "the barrier of the block": loop(GUARDED + WAIT.replace("syncwarp", "syncthreads") + HALVE),
        "the barrier of the block, and all lanes add": loop(
            ALL + WAIT.replace("syncwarp", "syncthreads") + HALVE)},
    "each block passes 9 barriers": {
        "the tree before": [("stride > 32", "stride > 0"), (f"    if tid < 32:\n{LOOP}", "")]},
    "each block passes 4 barriers": {
        "one step more for the block": [("stride > 32", "stride > 16")]},
    "names the barrier and does not call it": {"no brackets": [("syncwarp()", "syncwarp")]},
    "loads, one after the other": {
        "thread 0 adds the rest": [
            (f"    if tid < 32:\n{LOOP}",
             "    if tid == 0:\n        for j in range(1, 64):\n"
             "            shared[0] += shared[j]\n")]},
    "What lies 32 apart is never added.": {
        "the last warp begins too late": [(LOOP, f"        stride = uint32(16)\n{LOOP}")]},
}  # fmt: skip
