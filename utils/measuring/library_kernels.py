"""A row of `library_kernels.csv`: a kernel that cuBLAS launches, as the profiler shows it."""

from __future__ import annotations

from dataclasses import dataclass

from utils.measuring.rows import Date

FILE = "library_kernels.csv"


@dataclass(frozen=True)
class LibraryKernel:
    """A kernel that cuBLAS launches for the product of an m×k and a k×n matrix.

    elements: the type of the elements of a and b, "float16" or "bfloat16"; c is float32. kernel:
    its name, as the profiler shows it. grid, block: their sizes, x first. dynamic_shared_bytes: of
    a block. registers: of a thread. cublas_version: as cuBLAS says it, such as 130200 for 13.2.0.
    """

    device: str
    elements: str
    m: int
    n: int
    k: int
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    dynamic_shared_bytes: int
    registers: int
    cublas_version: int
    date: Date
