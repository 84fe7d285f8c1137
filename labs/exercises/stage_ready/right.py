"""Other right answers to `stage_ready`: changes of the solution that `check` accepts."""

from labs.exercises.stage_ready.wrong import BARRIER, BOTH, COMMIT, MMA, WAIT

HARMLESS = {
    "float64 in `sums[i] = float32(0)`": "the local array makes a float32 of it",
    "doubled in `sums[i] = float32(0)`": "twice zero is zero",
}  # fmt: skip

RIGHT = {
    "all copies waited for": [("wait_copies(1)", "wait_copies(0)")],
    "both at the end": [(BOTH, ""), (MMA, MMA + BOTH)],
    "the wait at the end": [(WAIT, ""), (MMA, MMA + WAIT)],
    "the wait below the copies": [(WAIT, ""), (COMMIT, COMMIT + WAIT)],
    "all copies waited for before the barrier of the next iteration": [
        (BOTH, BARRIER + WAIT.replace("1", "0"))],
    "the first wait left out": [(WAIT, f"        if start > 0:\n    {WAIT}")],
}  # fmt: skip
