"""Short kernel texts, each with the answer of Numba's compiler: does it compile them to PTX?

``idioms.csv`` has one row per idiom: ``code`` (the lines of a kernel's body, separated by a written
``\\n``), ``numba`` (``compiles`` or ``refuses``) and ``reason`` (the first line of the refusal).
``python -m virtual_gpu.tests.idioms`` fills ``numba`` and ``reason`` again; it needs Numba's
compiler, but no device.
"""

from __future__ import annotations

import csv
import importlib.util
import re
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numba import cuda
from numba.core import types

TABLE_FILE = Path(__file__).with_name("idioms.csv")
PARAMETERS = ("x", "y", "c", "n", "u", "k", "f", "out")
ARGUMENT_TYPES = (
    types.float32[::1], types.float32[:, ::1], types.complex64[::1], types.int32[::1],
    types.uint8[::1], types.int64, types.float64, types.float64[::1],
)  # fmt: skip
THREADS = 32
COMPILES, REFUSES = "compiles", "refuses"
FOLDERS = r"(?<![\w.)\]])/(?:[\w.+-]+/)+"  # of an absolute path; the name of the file is kept
_HEAD = '''
import cmath
import math
import operator
import random
import time
from collections import namedtuple
import numpy as np
from numba import complex64, cuda, float32, float64, int8, int32, int64, uint32
from numba.core.types import float16

N = 4
PAIR = (1, 2)
TABLE = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
DEVICE_TABLE = cuda.to_device(TABLE) if DEVICE else TABLE
Point = namedtuple("Point", ("x", "y"))
POINT = Point(3, 4)
float32x2 = cuda.float32x2

@cuda.jit(device=True)
def helper(value):
    return value * 2

@cuda.jit(device=True)
def total_of(row):
    total = 0
    for value in row:
        total += value
    return total

@cuda.jit(device=True)
def pair_of(value):
    return value, value + 1

def plain(value):
    return value * 2
'''


@dataclass(frozen=True)
class Idiom:
    """One row of ``idioms.csv``. ``numba`` and ``reason`` are empty before they are recorded."""

    code: str
    numba: str = ""
    reason: str = ""

    @property
    def body(self) -> str:
        """The lines of the kernel's body."""
        return self.code.replace(r"\n", "\n")


def read_idioms() -> tuple[Idiom, ...]:
    """Return all idioms in the order of the file."""
    with TABLE_FILE.open(newline="", encoding="utf-8") as file:
        return tuple(Idiom(**row) for row in csv.DictReader(file))


def write_idioms(idioms: Iterable[Idiom]) -> None:
    """Write the file anew."""
    with TABLE_FILE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("code", "numba", "reason"))
        writer.writerows((i.code, i.numba, i.reason) for i in idioms)


def kernels_of(idioms: Iterable[Idiom], folder: Path, device: bool) -> dict[Idiom, Callable]:
    """Return a plain Python function per idiom, in modules that are written to ``folder``.

    ``device`` tells whether a global array may be a device array. An idiom that Python itself
    refuses, such as ``return`` in a wrong place, raises SyntaxError.
    """
    functions = {}
    for number, idiom in enumerate(idioms):
        path = folder / f"idiom_{number}.py"
        lines = f"t = cuda.threadIdx.x\n{idiom.body}"
        head = f"DEVICE = {device}{_HEAD}"
        text = f"{head}\ndef kernel({', '.join(PARAMETERS)}):\n{textwrap.indent(lines, '    ')}\n"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        functions[idiom] = module.kernel
    return functions


def arguments() -> tuple:
    """Return new arguments for a launch of one idiom with ``THREADS`` threads."""
    x = np.linspace(0, 3, THREADS, dtype=np.float32)
    y = np.arange(THREADS * 8, dtype=np.float32).reshape(THREADS, 8)
    c = (x + 1j).astype(np.complex64)
    n = np.arange(THREADS, dtype=np.int32)
    return x, y, c, n, n.astype(np.uint8), 3, 0.5, np.zeros(THREADS)


def recorded(idiom: Idiom, function: Callable) -> Idiom:
    """Return the idiom with the answer of Numba's compiler for compute capability 9.0."""
    try:
        text, _ = cuda.compile_ptx(function, ARGUMENT_TYPES, cc=(9, 0))
    except Exception as error:  # Numba's refusals have no common class
        return replace(idiom, numba=REFUSES, reason=refusal_of(error))
    missing = re.findall(r"^\.extern \.func .*?(\w+)$", text, re.MULTILINE)
    foreign = [name for name in missing if name.startswith(("NRT_", "Py"))]
    if foreign:
        reason = f"the PTX calls {foreign[0]}, which no device has"
        return replace(idiom, numba=REFUSES, reason=reason)
    return replace(idiom, numba=COMPILES, reason="")


def refusal_of(error: Exception) -> str:
    """Return the first line of a refusal, without colours, addresses and folders of this machine.

    At most 160 characters are kept.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("Failed in", "-", "During: resolving"))]
    words = (told or lines or [type(error).__name__])[0]
    return re.sub(rf"\x1b\[\d*m|0x[0-9a-f]+|{FOLDERS}", "", words)[:160]
