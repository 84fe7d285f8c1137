"""Products whose threads compute TM rows of a column: the sizes that the launch knows."""

from __future__ import annotations

from labs.checking.phrasing import at_line
from labs.checking.run import Run
from virtual_gpu.common.source import read_source

# As in starter.py and solution.py.
BM, BN, BK, TM = 32, 64, 16, 8
THREADS = BM // TM * BN
TOLD = {"BM": BM, "BN": BN, "TM": TM}
def other_sizes(kernel) -> str | None:
    """A constant that the launch knows has another value."""
    code, names = kernel.py_func.__code__, read_source(kernel.py_func).names
    for name, right in TOLD.items():
        found = names.get(name)
        used = name in code.co_names + code.co_freevars
        if used and isinstance(found, int) and found != right:
            return (
                f"Your `{name}` is {found}. This launch has a block of {THREADS} threads for every "
                f"{BM}×{BN} elements of c, {TM} for each thread."
            )
    return None


# ----------------------------------------------------------------- what the virtual GPU has found


# ----------------------------------------------------------------- elements that nobody has written


# -------------------------------------------------------------------------------- wrong values


# ------------------------------------------------------------------------------------- targets


def loaded_again(seen: Run, value: float) -> str:
    """A block loads elements of its tiles more than once from global memory."""
    needed = {"a": seen.array("a").size * -(-seen.shape[1] // BN),
              "b": seen.array("b").size * -(-seen.shape[0] // BM)}  # fmt: skip
    times = {name: seen.total(name, "load", "words") / needed[name] for name in needed}
    name = max(times, key=times.get)
    most = max(seen.accesses(name), key=lambda one: one.words)
    return (
        f"{at_line(most.site)} loads every element of `{most.array}` that a block needs "
        f"{times[name]:.3g} times from global memory, and the target is once. Does a thread load "
        "what another one loads, too?"
    )
