"""Other right answers to `stage_ready`: changes of the solution that `check` accepts."""

from labs.exercises.stage_ready.wrong import BOTH, COMMIT, READY

HARMLESS = {
    "float64 in `sums[i] = float32(0)`": "the local array makes a float32 of it",
    "doubled in `sums[i] = float32(0)`": "twice zero is zero",
}  # fmt: skip

RIGHT = {
    "all copies waited for": [("wait_copies(1)", "wait_copies(0)")],
    "before the reads": [(BOTH, ""), (COMMIT + READY, f"{COMMIT}        wait_copies(2)\n"
                                      f"        cuda.syncthreads()\n{READY}"),
                         ("% 3", "% 4"), ("(3, 32, 16)", "(4, 32, 16)"),
                         ("(3, 16, 8)", "(4, 16, 8)")],
    "the wait in both branches": [
        ("        wait_copies(1)\n", "        if start > 0:\n            wait_copies(1)\n")],
}  # fmt: skip
