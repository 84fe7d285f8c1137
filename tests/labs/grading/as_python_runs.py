"""Run a file or a notebook as a student does, and return the function that `check` would get."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import itertools
import linecache
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from IPython.core.inputtransformer2 import TransformerManager

_NUMBERS = itertools.count(1)
RUN = ("time", "capture", "prun")  # cell magics that run their cell in the notebook


class Shell:
    """What `get_ipython()` returns: magics that run a cell do so, and all others do nothing."""

    def __init__(self, values: dict[str, object]) -> None:
        self.values = values

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """Run the cell if the magic does."""
        if name in RUN:
            run_cell(cell, self.values)

    def run_line_magic(self, *_: object) -> None:
        """Do nothing, as for `%matplotlib inline`."""

    def system(self, *_: object) -> None:
        """Start no command, as for `!pip install numba`."""

    def getoutput(self, *_: object) -> list[str]:
        """Return no output, as for `files = !ls`."""
        return []


def run_cell(cell: str, values: dict[str, object]) -> None:
    """Run a cell as IPython does, with `values` as its globals; an error ends the cell alone."""
    file = f"<cell {next(_NUMBERS)}>"
    try:
        text = TransformerManager().transform_cell(cell)
        lines = [f"{line}\n" for line in text.split("\n")]
        linecache.cache[file] = (len(text), None, lines, file)
        exec(compile(text, file, "exec"), values)
    except (Exception, SystemExit):
        return


def object_of_notebook(cells: Sequence[str], name: str) -> object:
    """Return what a name stands for after all cells were run, or None if it is not defined."""
    module = ModuleType("__main__")
    values = vars(module)
    shell = Shell(values)
    values["get_ipython"] = lambda: shell
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for cell in cells:
            run_cell(cell, values)
    return values.get(name)


def object_of_file(file: Path, name: str) -> object:
    """Return what a name stands for in a file that is imported, or None if it is not defined."""
    spec = importlib.util.spec_from_file_location(f"work_{next(_NUMBERS)}", file)
    module = importlib.util.module_from_spec(spec)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        spec.loader.exec_module(module)
    return getattr(module, name, None)
