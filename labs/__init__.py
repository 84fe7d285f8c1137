"""The exercise bank: kernels that the reader writes, and the checker that names what is wrong.

`exercises` holds one folder per exercise, and nothing else. `checking` runs and judges a kernel,
`numbers` and `host` the other two kinds of functions. `families` and `targets` are what exercises
share. `grading` gives marks, and `platforms` holds what nbgrader, JupyterHub and Gradescope need.

>>> from labs import check, task
>>> task("coalescing")  # doctest: +SKIP
>>> check("coalescing", my_kernel)  # doctest: +SKIP
"""

import kernels_anywhere  # noqa: F401
from labs.by_name import check, task
from labs.checking.verdict import Verdict
from labs.exercises import EXERCISES

__all__ = ["EXERCISES", "Verdict", "check", "task"]
