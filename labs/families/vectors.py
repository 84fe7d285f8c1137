"""The family of vectors: each element of the result is made from one element of the inputs.

A shape is (n,). The launch has whole blocks of 256 threads, and thread number i of the grid has
element i; the last block hangs over the end.
"""

from __future__ import annotations

import ast
import re

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.target import Probes
from utils.ladder.step import Launch
from virtual_gpu.common.source import read_source

THREADS = 256
def launch(shape: Shape) -> Launch:
    """Enough blocks to cover n elements."""
    return Launch(grid=(-(-shape[0] // THREADS),), block=(THREADS,))


def numbers(shape: Shape, seed: int) -> np.ndarray:
    """The numbers from 1 to n in any order, float32: each value says where it comes from."""
    return (np.random.default_rng(seed).permutation(shape[0]) + 1).astype(np.float32)


def elementwise(**told) -> KernelExercise:
    """Return an exercise of this family.

    told: the fields of KernelExercise that the family leaves open.
    """
    probes = Probes(refused=REFUSED)
    return KernelExercise(sizes=("n",), launch=launch, probes=probes, **told)


# ------------------------------------------------------------------------ what cannot be compiled


def _two_indices(kernel, message: str) -> str | None:
    """cuda.grid(2) in place of one index."""
    if "tuple" not in message and "out of range" not in message:
        return None
    for call in _nodes(kernel, ast.Call):
        if ast.unparse(call.func) == "cuda.grid" and ast.unparse(call) != "cuda.grid(1)":
            return (
                f"`{ast.unparse(call)}` gives several numbers, one for each dimension. This launch "
                "and this array have one dimension."
            )
    return None


def _shape_as_number(kernel, message: str) -> str | None:
    """out.shape in place of its only entry."""
    if "tuple of 1" not in message:
        return None
    return "The shape of an array is a tuple, also where the array has one dimension."


def _all_three_coordinates(kernel, message: str) -> str | None:
    """threadIdx without .x."""
    if "Dim3" not in message and not re.search(r"cuda\.(thread|block)(Idx|Dim)\b(?!\.)", message):
        return None
    return (
        "`cuda.threadIdx`, `cuda.blockIdx` and `cuda.blockDim` each hold three numbers, `x`, `y` "
        "and `z`. This launch has one dimension, `x`."
    )


def _whole_arrays(kernel, message: str) -> str | None:
    """NumPy's way: arithmetic with whole arrays."""
    if not re.search(r"\(\) of .*\b1D array|a call of np\.", message):
        return None
    return (
        "Each thread executes this line. It works on one element, and not on a whole array as in "
        "NumPy."
    )


# ---------------------------------------------------------------------------- indices too far out


# ------------------------------------------------------------------------- elements never written


# ------------------------------------------------------------------------------- moved elements


def _nodes(kernel, kind: type) -> list:
    return [node for node in ast.walk(read_source(kernel.py_func).tree) if isinstance(node, kind)]


# What other families of vectors share.
REFUSED = (_two_indices, _shape_as_number, _all_three_coordinates, _whole_arrays)
