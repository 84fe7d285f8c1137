"""Other right answers to `without_copies`: changes of the solution that `check` accepts."""

from labs.exercises.without_copies.wrong import BACK, FILL_A, FILL_B, WAIT, C

# Other ways that are as good.
RIGHT = {
    "a copy on the host": [(BACK, "    return both_c.copy()\n")],
    "as NumPy's": [(BACK, "    return np.asarray(both_c)\n")],
    "waits for a stream": [
        (C, f"{C}    stream = cuda.stream()\n"),
        ("[grid, block]", "[grid, block, stream]"),
        (WAIT, "    stream.synchronize()\n")],
    "waits for an event": [
        (WAIT, "    done = cuda.event()\n    done.record()\n    done.synchronize()\n")],
    "np.copyto": [(FILL_A + FILL_B, "    np.copyto(both_a, a)\n    np.copyto(both_b, b)\n")],
    "waits twice": [(WAIT, WAIT + WAIT)],
}  # fmt: skip

HARMLESS = {
    "constant_one_more in `block = 32, 8": "more threads than are needed",
    "constant_one_less in `grid = ": "more blocks than are needed",
}
