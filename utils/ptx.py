"""What the compiler made of a kernel, before the assembler: PTX, counted in plain words.

PTX is the compiler's portable assembly. It needs no GPU, only the compiler's wheels. Registers and
the final instruction mix are the assembler's business and are not visible here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pandas as pd
from numba import cuda
from numba.cuda.cudadrv import nvvm

from utils.errors import CourseError

ARCHITECTURES = {"sm_75": (7, 5), "sm_80": (8, 0), "sm_86": (8, 6), "sm_89": (8, 9),
                 "sm_90": (9, 0), "sm_100": (10, 0)}  # fmt: skip
_INSTRUCTION = re.compile(r"^\s+(?:@!?%p\d+\s+)?([a-z][\w.:]*)[^;\n]*;", re.MULTILINE)

# The first match names a group; the rest of the instructions are address arithmetic and control.
_GROUPS = (
    ("loads from global memory", r"ld\.(?:volatile\.)?global"),
    ("stores to global memory", r"st\.(?:volatile\.)?global"),
    ("loads from shared memory", r"ld\.(?:volatile\.)?shared"),
    ("stores to shared memory", r"st\.(?:volatile\.)?shared"),
    ("float32 multiply-adds", r"fma\.rn(?:\.ftz)?\.f32"),
    ("float64 instructions", r".*\.f64"),
    ("barriers", r"bar\.|barrier\."),
    ("branches", r"bra"),
    ("integer and address arithmetic", r"(?:add|sub|mul|mad|shl|shr|and|or|cvt|cvta)\b"),
)


def compile_ptx(function: Callable, signature, arch: str = "sm_90") -> str:
    """The PTX of a ``@cuda.jit`` function (or a plain one) for ``arch``.

    Raises CourseError without a compiler, or for an architecture that is not in ARCHITECTURES.
    """
    if arch not in ARCHITECTURES:
        raise CourseError(
            f"{arch} is not an architecture of this course: choose one of "
            f"{', '.join(ARCHITECTURES)}."
        )
    if not nvvm.is_available():
        raise CourseError(
            "The CUDA compiler is not installed, so there is no PTX to look at: on Linux or "
            "Windows `make setup` installs it; for macOS there is none."
        )
    python = getattr(function, "py_func", function)
    return cuda.compile_ptx(python, signature, cc=ARCHITECTURES[arch])[0]


def instruction_counts(ptx: str) -> Counter:
    """How often each PTX instruction stands in the code, by its full name."""
    return Counter(_INSTRUCTION.findall(ptx))


def in_plain_words(ptx: str) -> pd.Series:
    """Instructions by what they do; an instruction counts once, however often it is executed."""
    counts = Counter({name: 0 for name, _ in _GROUPS})
    for instruction, times in instruction_counts(ptx).items():
        counts[_group(instruction)] += times
    return pd.Series(counts, name="instructions")


def _group(instruction: str) -> str:
    for name, pattern in _GROUPS:
        if re.match(pattern, instruction):
            return name
    return "other"
