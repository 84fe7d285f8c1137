"""Wrong answers to `stage_ready`: what `check` says, and the changes that earn it."""

WAIT = "        wait_copies(1)\n"
BARRIER = "        cuda.syncthreads()\n"
BOTH = WAIT + BARRIER
COMMIT = "        commit_copies()\n"
READY = "        if start >= 32:\n"
COPY = "            stage = start // 16 % 3\n"
READ = "            stage = (start - 32) // 16 % 3\n"
RACE = "race"

WRONG = {
    RACE: {
        "the barrier first": [(BOTH, BARRIER + WAIT)],
        "no wait": [(WAIT, "")],
        "no barrier": [(BARRIER, "")],
        "one group too many": [("wait_copies(1)", "wait_copies(2)")],
        "a barrier of a warp": [("cuda.syncthreads()", "cuda.syncwarp()")],
        "the wait at the end": [(BOTH, BARRIER), ("of_a, of_b)\n", f"of_a, of_b)\n{WAIT}")],
        "both at the end": [(BOTH, ""), ("of_a, of_b)\n", f"of_a, of_b)\n{BOTH}")],
        "committed with a copy alone": [(COMMIT, f"    {COMMIT}")],
        "committed after the products": [
            (COMMIT, ""), ("of_a, of_b)\n", f"of_a, of_b)\n{COMMIT}"),
            ("wait_copies(1)", "wait_copies(2)")],
        "never committed": [(COMMIT, "")],
        "the next stage": [(READ, READ.replace("start - 32", "start - 16"))],
        "two stages": [(READ, READ.replace("% 3", "% 2")), (COPY, COPY.replace("% 3", "% 2"))]},
    "barriers": {
        "a second barrier": [(READY, f"{BARRIER}{READY}")],
        "a barrier at the end": [("of_a, of_b)\n", f"of_a, of_b)\n            cuda.syncthreads()\n")]},
    "lacks the terms": {
        "two stages less": [("range(0, k + 32, 16)", "range(0, k, 16)")]},
}  # fmt: skip
