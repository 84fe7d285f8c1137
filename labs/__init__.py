"""The exercise bank: kernels that the reader writes, and the checker that names what is wrong.

One folder is one exercise: what is asked (`exercise.py`), the kernel to begin with (`starter.py`)
and one that is right (`solution.py`). Lessons, labs and graders share them, so nothing here knows
of notebooks: a `Verdict` is data that also shows itself. Kernels run on the virtual GPU, also where
there is a GPU, and so do functions of the CPU, as kernels of one thread. Functions of numbers are
evaluated by their text.

>>> from labs import check, task
>>> task("coalescing")  # doctest: +SKIP
>>> check("coalescing", my_kernel)  # doctest: +SKIP
"""

from importlib import import_module

from labs.bank import EXERCISES
from labs.judging import check
from labs.verdict import Verdict


def __getattr__(name: str):
    # Cards take a second to import, which graders need not wait.
    if name != "task":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("labs.tasks").task


__all__ = ["EXERCISES", "Verdict", "check", "task"]
