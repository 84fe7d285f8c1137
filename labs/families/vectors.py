"""The family of elementwise kernels: one thread computes each element of the result.

A shape is (n,). The launch has blocks of 256 threads, and thread i of the grid computes element i.
The last block reaches beyond the end.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

import numpy as np

from labs.checking.exercise import KernelExercise
from labs.checking.job import Shape
from labs.checking.run import Run
from labs.checking.target import Probes, Target
from labs.families.wrong_scales import WRONG_SCALES
from labs.targets.counts import input_loads_per_element
from labs.targets.stored_elements import overlap_or_gap
from utils.division import cdiv
from utils.ladder.step import Launch
from utils.translation import translate
from virtual_gpu.common.source import read_source

THREADS = 256


def launch(shape: Shape) -> Launch:
    """Return the launch with blocks of 256 threads that cover n elements. shape: (n,)."""
    return Launch(grid=(cdiv(shape[0], THREADS),), block=(THREADS,))


def numbers(shape: Shape, seed: int) -> np.ndarray:
    """Return the numbers from 1 to n in random order, as a float32 array of shape (n,).

    Each number occurs once, so it identifies the element from which it was loaded. shape: (n,).
    """
    return (np.random.default_rng(seed).permutation(shape[0]) + 1).astype(np.float32)


def signed_numbers(shape: Shape, seed: int) -> np.ndarray:
    """Return 0.5, 1, 1.5 … n/2 in random order and with random signs, float32, of shape (n,).

    No two have the same absolute value. shape: (n,).
    """
    signs = np.random.default_rng([seed, shape[0]]).choice((-0.5, 0.5), shape[0])
    return (numbers(shape, seed) * signs).astype(np.float32)


def drawn_factor(shape: Shape, seed: int) -> np.float32:
    """Return a float32 factor from 3.25, 3.75, 4.25 … 10.75, drawn for a shape and a seed.

    It is never a whole number. Its products with `numbers` and `signed_numbers` are exact in
    float32. shape: only its first size is used.
    """
    drawn = np.random.default_rng([seed, shape[0]]).integers(6, 22) / 2 + 0.25
    return np.float32(drawn)


def elementwise(
    record: type[KernelExercise] = KernelExercise,
    wrong: tuple[Callable[[Run], str | None], ...] = (),
    targets: tuple[Target, ...] = (),
    loads: int = 2,
    **fields,
) -> KernelExercise:
    """Return an exercise whose kernel computes each element of its result with one thread.

    record: KernelExercise or OrderExercise, the class of the exercise. wrong: probes for wrong
    values. targets: the exercise's own targets; a limit on the loads comes last in any case. loads:
    this limit, the number of times that each element of an input may be loaded on average. fields:
    the remaining fields of the record.
    """
    targets = (*targets, input_loads_per_element(loads))
    family = {"launch": launch, **fields}
    missing = (length_as_a_number, overlap_or_gap)
    probes = Probes(refused=REFUSED, unknown=(_whole_arrays,), missing=missing, wrong=wrong)
    return record(sizes=("n",), probes=probes, targets=targets, **family)


def scaling(**fields) -> KernelExercise:
    """Return an elementwise exercise whose kernel stores factor · x[i] in out[i].

    fields: the remaining fields of KernelExercise.
    """
    return elementwise(
        parameters=("x", "factor", "out"), inputs=_to_scale, reference=_scaled, wrong=WRONG_SCALES,
        **fields,
    )  # fmt: skip


def _to_scale(shape: Shape, seed: int) -> tuple[np.ndarray, np.float32]:
    """Return (x, factor): float32 numbers of shape (n,), and a float32 that is no whole number.

    x has 0.5, 1, 1.5 … n/2 in random order and with random signs. shape: (n,).
    """
    return signed_numbers(shape, seed), drawn_factor(shape, seed)


def _scaled(x: np.ndarray, factor: np.float32) -> np.ndarray:
    """Return factor · x as a float64 array."""
    return x.astype(np.float64) * float(factor)


# ------------------------------------------------------------ a probe for elements never written


def length_as_a_number(run: Run) -> str | None:
    """Return a sentence on a comparison with a constant that is right for one length only, or None.

    The constant is the index from which on all elements of the result are missing. Returns None if
    others are missing too, or if no comparison in the kernel has this constant.
    """
    first = int(np.argmax(run.unwritten))
    if not run.unwritten[first:].all():
        return None
    for node in ast.walk(run.tree):
        parts = (node.left, *node.comparators) if isinstance(node, ast.Compare) else ()
        if any(isinstance(part, ast.Constant) and part.value == first for part in parts):
            return translate(
                "All elements from {first} on are missing, and `{code}` in line {line} compares "
                "with this number. Arrays have other lengths, too: which length does "
                "`{result}` have?",
                first=first,
                code=ast.unparse(node),
                line=node.lineno,
                result=run.result,
            )
    return None


# -------------------------------------------------------- probes for kernels that do not compile


def _two_indices(kernel, message: str) -> str | None:
    """Return a sentence if cuda.grid is called with another argument than 1, else None.

    message: the error message of the kernel, which cannot be compiled; the result is None unless it
    is about a tuple or an index out of range.
    """
    if "tuple" not in message and "out of range" not in message:
        return None
    for call in _nodes(kernel, ast.Call):
        if ast.unparse(call.func) == "cuda.grid" and ast.unparse(call) != "cuda.grid(1)":
            return translate(
                "`{code}` gives several numbers, one for each dimension. This launch and this "
                "array have one dimension.",
                code=ast.unparse(call),
            )
    return None


def _shape_as_number(kernel, message: str) -> str | None:
    """Return a sentence if x.shape is used instead of its only entry, else None.

    message: the error message of the kernel, which cannot be compiled.
    """
    if "tuple of 1" not in message:
        return None
    return translate("The shape of an array is a tuple, also where the array has one dimension.")


def _all_three_coordinates(kernel, message: str) -> str | None:
    """Return a sentence if threadIdx, blockIdx or blockDim is used without .x, else None.

    message: the error message of the kernel, which cannot be compiled.
    """
    if "Dim3" not in message and not re.search(r"cuda\.(thread|block)(Idx|Dim)\b(?!\.)", message):
        return None
    return translate(
        "`cuda.threadIdx`, `cuda.blockIdx` and `cuda.blockDim` each hold three numbers, `x`, `y` "
        "and `z`. This launch has one dimension, `x`."
    )


def _whole_arrays(kernel, message: str) -> str | None:
    """Return a sentence if the kernel computes with whole arrays, as in NumPy, else None.

    message: the error message of the kernel, which cannot be compiled.
    """
    if not re.search(r"\(\) of .*\b1D array|a call of np\.", message):
        return None
    return translate(
        "Each thread executes this line. It works on one element, and not on a whole array as in "
        "NumPy."
    )


def _nodes(kernel, kind: type) -> list:
    """Return the syntax nodes of this class in the kernel's function."""
    return [node for node in ast.walk(read_source(kernel.py_func).tree) if isinstance(node, kind)]


# Other families with one-dimensional arrays use these probes too.
REFUSED = (_two_indices, _shape_as_number, _all_three_coordinates, _whole_arrays)
