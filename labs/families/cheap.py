"""Kernels that give right results and ignore what their task is about, as texts for `cheap.py`."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import indent

_PRODUCT = """from numba import cuda, float32


@cuda.jit
def {name}(a, b, c):
    m, n, k = a.shape[0], b.shape[1], a.shape[1]
    t = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
{head}    for e in range({elements}):
        row = cuda.blockIdx.y * {rows} + e // {columns}
        col = cuda.blockIdx.x * {columns} + e % {columns}
        if row < m and col < n:
            total = float32(0)
            for i in range(k):
                total += a[row, i] * b[i, col]
            c[row, col] = total
"""


def _product(name: str, rows: str, columns: str, elements: str, head: str = "") -> str:
    """Return the text of a product kernel of this name, each of whose threads computes elements.

    rows, columns: the part of c that a block computes, as Python expressions. elements: the
    arguments of `range` for the elements of one thread t. head: lines before the loop.
    """
    return _PRODUCT.format(name=name, rows=rows, columns=columns, elements=elements, head=head)


def products(name: str, rows: int | str, columns: int | str, threads: int | str) -> dict[str, str]:
    """Return a dict from a label to the text of a product kernel that is right, but in a cheap way.

    The kernels share the work among the threads badly and use no tiles; one is right only at some
    sizes. name: the kernel's name. rows, columns: the part of c that a block computes, as in the
    launch. threads: the threads of a block. The numbers may be Python expressions.
    """
    rows, columns = f"({rows})", f"({columns})"
    every = f"{rows} * {columns}"
    each = f"({every} // ({threads}))"
    wrong_sizes = f"    if m % {rows} or n % {columns} or k % 16:\n        return\n"
    works = {
        "one lane of each warp does the work of all": (
            "    if t % 32:\n        return\n", f"t * {each}, (t + 32) * {each}"),
        "the first warp of each block does everything": (
            "    if t >= 32:\n        return\n", f"t, {every}, 32"),
        "every second lane does the work of two": (
            "    if t % 2:\n        return\n", f"t * {each}, (t + 2) * {each}"),
        "adjacent elements in each thread": (
            "", f"t * {each}, (t + 1) * {each}"),
        "only sizes that fit": (wrong_sizes, f"t, {every}, {threads}"),
    }  # fmt: skip
    return {what: _product(name, rows, columns, range_, head)
            for what, (head, range_) in works.items()}  # fmt: skip


def naive_product(name: str, rows: int | str, columns: int | str, threads: int | str) -> str:
    """Return the text of a product whose threads read every factor from global memory.

    name: the kernel's name. rows, columns: the part of c that a block computes. threads: the
    threads of a block. The numbers may be Python expressions.
    """
    rows, columns = f"({rows})", f"({columns})"
    return _product(name, rows, columns, f"t, {rows} * {columns}, {threads}")


def one_lane_after_the_other(text: str, loop: str) -> str:
    """Return the text with a loop wrapped so that the lanes of a warp run it one after the other.

    loop: a `for` statement with its body, exactly as it is in the text. Raises ValueError if the
    text does not have it.
    """
    if loop not in text:
        raise ValueError(f"The text has no {loop!r}.")
    margin = " " * (len(loop) - len(loop.lstrip()))
    turns = f"{margin}for turn in range(32):\n{margin}    if cuda.threadIdx.x % 32 == turn:\n"
    return text.replace(loop, turns + indent(loop, "        "))


def block_sums(
    kernel: str, term: str, zero: str = "float32(0)", joined: str = "{0} + {1}", each: int = 1
) -> dict[str, str]:
    """Return a dict from a label to the text of a file with a reduction without a tree.

    Each kernel stores one result per block of 256 threads. The last one computes a sum by a formula
    and does not read x; the one with votes works only for sums of whole numbers. kernel: the
    kernel's name and parameters, such as "tree(x, partials)"; the last one is the result. term:
    Python code for what element j adds, such as "x[j]". zero: code for the neutral value, with
    which a sum begins. joined: code that combines two numbers, with {0} and {1} for the numbers.
    each: the elements per thread.
    """
    result = kernel.rpartition(",")[2].strip(" )")
    wide = 256 * each

    def join(one: str, other: str) -> str:
        """Return the code that combines two numbers, given as code."""
        return joined.format(one, other)

    def text(lines: Iterable[str]) -> str:
        """Return the text of a file with a kernel whose body ends with these lines."""
        head = (
            f"import math\n\nfrom numba import cuda, float32\n\n\n@cuda.jit\ndef {kernel}:\n"
            f"    t, first = cuda.threadIdx.x, cuda.blockIdx.x * {wide}\n"
            f"    end = min(x.size, first + {wide})\n"
        )
        return head + "".join(f"    {line}\n" for line in lines)

    store = f"    {result}[cuda.blockIdx.x] = "
    own = [
        f"shared = cuda.shared.array({wide}, float32)",
        f"for j in range(first + t, first + {wide}, 256):",
        f"    shared[j - first] = {term} if j < x.size else {zero}",
        "cuda.syncthreads()",
    ]
    return {
        "one thread loads and joins everything": text([
            "if t == 0:", f"    total = {zero}", "    for j in range(first, end):",
            f"        total = {join('total', term)}", f"{store}total"]),
        "one thread joins what all have loaded": text([
            *own, "if t == 0:", f"    total = {zero}", f"    for j in range({wide}):",
            f"        total = {join('total', 'shared[j]')}", f"{store}total"]),
        "one thread joins the words of one warp": text([
            *own, "if t < 32:", f"    total = {zero}", f"    for j in range(t, {wide}, 32):",
            f"        total = {join('total', 'shared[j]')}", "    shared[t] = total",
            "cuda.syncthreads()", "if t == 0:", f"    total = {zero}", "    for j in range(32):",
            f"        total = {join('total', 'shared[j]')}", f"{store}total"]),
        "every thread joins everything": text([
            f"total = {zero}", "for j in range(first, end):",
            f"    total = {join('total', term)}", "if t == 0:", f"{store}total"]),
        "one lane of each warp joins its part": text([
            "sums = cuda.shared.array(8, float32)", "if t % 32 == 0:", f"    total = {zero}",
            f"    for j in range(first + t * {each}, min(end, first + (t + 32) * {each})):",
            f"        total = {join('total', term)}", "    sums[t // 32] = total",
            "cuda.syncthreads()", "if t == 0:", f"    total = {zero}", "    for j in range(8):",
            f"        total = {join('total', 'sums[j]')}", f"{store}total"]),
        "votes on the bits of whole numbers": text([
            "sums = cuda.shared.array(8, float32)", "own, total = 0, 0",
            "for j in range(first + t, end, 256):", f"    own += int({term})",
            "for bit in range(16):",
            "    total += cuda.popc(cuda.ballot_sync(0xFFFFFFFF, own >> bit & 1)) << bit",
            "if t % 32 == 0:", "    sums[t // 32] = total", "cuda.syncthreads()", "if t == 0:",
            "    whole = float32(0)", "    for j in range(8):", "        whole += sums[j]",
            f"{store}whole"]),
        "every lane joins all values of its warp": text([
            "sums = cuda.shared.array(8, float32)", f"own = total = {zero}",
            "for j in range(first + t, end, 256):", f"    own = {join('own', term)}",
            "for lane in range(32):",
            f"    total = {join('total', 'cuda.shfl_sync(0xFFFFFFFF, own, lane)')}",
            "if t % 32 == 0:", "    sums[t // 32] = total", "cuda.syncthreads()", "if t == 0:",
            f"    total = {zero}", "    for j in range(8):",
            f"        total = {join('total', 'sums[j]')}", f"{store}total"]),
        "a formula that reads nothing": text([
            "if t == 0:", "    total = float32(0)", "    for j in range(first, end):",
            "        total += float32(j + 1)", f"{store}total"]),
    }  # fmt: skip


def atomics(kernel: str, term: str, operation: str = "add", zero: str = "float32(0)") -> str:
    """Return the text of a file with a kernel whose blocks reduce by atomics, into a shared word.

    Each thread takes part with at most one element, j = cuda.grid(1), and thread 0 stores the word
    into the block's element of the result. kernel: the kernel's name and parameters; the last one
    is the result. term: Python code for what element j adds, such as "x[j]". operation: "add" or
    "max". zero: code for the neutral value.
    """
    result = kernel.rpartition(",")[2].strip(" )")
    return (
        f"import math\n\nfrom numba import cuda, float32\n\n\n@cuda.jit\ndef {kernel}:\n"
        "    total = cuda.shared.array(1, float32)\n"
        "    j = cuda.grid(1)\n"
        "    if cuda.threadIdx.x == 0:\n"
        f"        total[0] = {zero}\n"
        "    cuda.syncthreads()\n"
        "    if j < x.size:\n"
        f"        cuda.atomic.{operation}(total, 0, {term})\n"
        "    cuda.syncthreads()\n"
        "    if cuda.threadIdx.x == 0:\n"
        f"        {result}[cuda.blockIdx.x] = total[0]\n"
    )
