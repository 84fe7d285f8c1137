"""The exercise bank: kernels that the reader writes, and the checker that names their mistakes.

`exercises` holds one folder per exercise, and nothing else. `checking` runs and judges kernels;
`numbers` and `host` do so for formulas and for host functions. `families` and `targets` are shared
by exercises. `grading` gives marks, and `platforms` adapts the labs to nbgrader, JupyterHub and
Gradescope.

>>> from labs import check, task
>>> task("coalescing")  # doctest: +SKIP
>>> check("coalescing", my_kernel)  # doctest: +SKIP
"""

import kernels_anywhere  # noqa: F401
from labs.by_name import check, task
from labs.checking.verdict import Verdict
from labs.exercises import EXERCISES

__all__ = ["EXERCISES", "Verdict", "check", "task"]
