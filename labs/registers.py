"""Targets for numbers that must stay in registers, and for the share of multiply-adds in a loop."""

from __future__ import annotations

import ast

from labs.exercise import Target
from labs.machine_code import machine_code
from labs.run import Run
from labs.words import counted

LOCAL = ("LDL", "STL")


def no_local_memory() -> Target:
    """No number of a thread lies in local memory; unknown where the compiler is missing."""

    def measure(seen: Run) -> float | None:
        code = machine_code(seen)
        return None if code is None else float(code.local_bytes)

    def cause(seen: Run, value: float) -> str:
        return f"{value:g}"

    words = "no local memory in the machine code"
    return Target("bytes of local memory", 0, words, measure, cause)
