"""Wrong answers to `stage_ready`: what `check` says, and the changes that earn it."""

WAIT = "        wait_copies(1)\n"
BARRIER = "        cuda.syncthreads()\n"
BOTH = WAIT + BARRIER
COMMIT = "        commit_copies()\n"
READY = "        if start >= 32:\n"
STAGES = "start // 16 % 3, (start + 16) // 16 % 3"
COPIES = """        if start < k:
            copy8_async(sa, (new, t // 2, t % 2 * 8), a, (row + t // 2, start + t % 2 * 8))
            if t < 16:
                copy8_async(sb, (new, t, 0), b, (start + t, col))
        commit_copies()
"""
ONE_AHEAD = [
    (BOTH, ""), (COPIES, COPIES + WAIT.replace("1", "0") + BARRIER), ("k + 32", "k + 16"),
    ("(start + 16) // 16 % 3", "(start + 32) // 16 % 3"), (">= 32", ">= 16"),
]  # fmt: skip
MMA = "            mma_m16n8k16(sums, of_a, of_b)\n"

WRONG = {
    "Between that thread's wait and this line is no barrier.": {
        "the barrier first": [(BOTH, BARRIER + WAIT)],
        "no barrier": [(BARRIER, "")]},
    "with no syncthreads() between": {
        "a barrier of a warp": [("cuda.syncthreads()", "cuda.syncwarp()")]},
    "The stage is filled anew while slower threads may still read the tile that is in it.": {
        "both below the copies": [(BOTH, ""), (COMMIT, COMMIT + BOTH.replace("1", "2"))],
        "all waited for below the copies": [
            (BOTH, ""), (COMMIT, COMMIT + BOTH.replace("1", "0"))],
        "the barrier below the copies": [(BARRIER, ""), (COMMIT, COMMIT + BARRIER)]},
    "the copy is committed, and no wait_copies() has waited for it": {
        "no wait": [(WAIT, "")],
        "two stages": [(STAGES, "start // 16 % 2, start // 16 % 2")]},
    "leaves 2 groups in flight, and the copy is in one": {
        "one group too many": [("wait_copies(1)", "wait_copies(2)")],
        "committed after the products": [
            (COMMIT, ""), (MMA, MMA + COMMIT), ("wait_copies(1)", "wait_copies(2)")]},
    "leaves 1 group in flight, and the copy is in one": {
        "committed with a copy alone": [(COMMIT, f"    {COMMIT}")],
        "the next stage": [(STAGES, STAGES.replace("start + 16", "start + 32"))]},
    "the copy is not committed, so no wait_copies() waits for it": {
        "never committed": [(COMMIT, "")]},
    "leaves no group in flight. The copies of the next tile could stay in flight": {
        "all copies waited for": [("wait_copies(1)", "wait_copies(0)")],
        "all copies waited for before the barrier of the next iteration": [
            (BOTH, BARRIER + WAIT.replace("1", "0"))],
        "one tile ahead": ONE_AHEAD,
        "all copies waited for after the first iteration": [
            (WAIT, f"        if start > 0:\n    {WAIT.replace('1', '0')}")]},
    "each block passes": {
        "a second barrier": [(READY, f"{BARRIER}{READY}")],
        "a barrier at the end": [(MMA, f"{MMA}            cuda.syncthreads()\n")]},
    "The loop ends at 32. That is m, the rows of c; a sum has k = 64 terms": {
        "two stages less": [("range(0, k + 32, 16)", "range(0, k, 16)")]},
}  # fmt: skip
