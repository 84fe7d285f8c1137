"""Products whose threads compute TM consecutive elements of a column of c: sizes and messages."""

from __future__ import annotations

from labs.checking.phrasing import at_line
from labs.checking.run import Run
from utils.division import cdiv
from utils.translation import translate
from virtual_gpu.common.source import read_source

# As in starter.py and solution.py.
BM, BN, BK, TM = 32, 64, 16, 8
THREADS = BM // TM * BN
CONSTANTS = {"BM": BM, "BN": BN, "TM": TM}


def other_sizes(kernel) -> str | None:
    """Return a sentence if the reader's BM, BN or TM differs from the launch's, else None.

    A name that the kernel does not use, or whose value is not a whole number, does not count.
    """
    code, names = kernel.py_func.__code__, read_source(kernel.py_func).names
    for name, right in CONSTANTS.items():
        value = names.get(name)
        used = name in code.co_names + code.co_freevars
        if used and isinstance(value, int) and value != right:
            return translate(
                "Your `{name}` is {value}. This launch has a block of {threads} threads for "
                "every {bm}×{bn} elements of c, {tm} for each thread.",
                name=name,
                value=value,
                threads=THREADS,
                bm=BM,
                bn=BN,
                tm=TM,
            )
    return None


# ------------------------------------------------------------------------------------- targets


def loaded_again(run: Run, value: float) -> str:
    """Return a sentence on the input, a or b, that blocks load most often per element they need.

    It names the source line that loads most of that input, and how often the blocks load each
    element. value: the measured count, which is not used.
    """
    needed = {"a": run.array("a").size * cdiv(run.shape[1], BN),
              "b": run.array("b").size * cdiv(run.shape[0], BM)}  # fmt: skip
    times = {name: run.total(name, "load", "words") / needed[name] for name in needed}
    name = max(times, key=times.get)
    most = max(run.accesses(name), key=lambda one: one.words)
    return translate(
        "{where} loads every element of `{array}` that a block needs {times:.3g} times from "
        "global memory, and the target is once. Does a thread load what another one loads, too?",
        where=at_line(most.site),
        array=most.array,
        times=times[name],
    )
