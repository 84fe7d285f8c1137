"""Find out in a notebook whether a function comes from the newest cell that defines it."""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from pathlib import Path


def is_outdated(function) -> bool:
    """Return True if the newest executed cell that defines a function has not replaced it.

    Then that cell stopped with an error, and the notebook still has the function of an earlier
    cell. function: a kernel or a Python function; False for anything else, for a function from a
    file, and outside of a notebook.
    """
    plain = getattr(function, "py_func", function)
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or not inspect.isfunction(plain) or Path(plain.__code__.co_filename).exists():
        return False
    definition = re.compile(rf"^\s*def {plain.__name__}\b", re.MULTILINE)
    cells = map(textwrap.dedent, reversed(shell.history_manager.input_hist_raw))
    newest = next(filter(definition.search, cells), "")
    try:
        return bool(newest) and inspect.getsource(plain).strip() not in newest
    except OSError:
        return False
