"""The counts of the reader's kernel with slices, beside those of a product without slices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gemm_kernels.naive import naive
from utils.division import cdiv
from utils.ladder.problems import draw
from utils.ladder.step import Launch
from utils.lessons.cards import Table, table
from virtual_gpu import trace

SHAPE = 16, 64, 128  # m, n, k
BLOCK, SLICES = (32, 8), 4  # of the launch of `cut_along_k`


def beside_the_whole(yours: Callable) -> Table:
    """Return a table of two kernels for one product: blocks, loads of a thread, and stored words.

    The stored words are those of the whole launch. yours: the reader's kernel of the exercise
    `cut_along_k`. The other kernel, in the first row, is `naive`, with blocks of the same size and
    one thread per element of c.
    """
    m, n, k = SHAPE
    cut = Launch((cdiv(n, BLOCK[0]), cdiv(m, BLOCK[1]), SLICES), BLOCK)
    whole = Launch(cut.grid[:2], cut.block)
    rows = [
        _row("naive, not cut", naive, whole, np.zeros((m, n), np.float32)),
        _row("your cut_along_k", yours, cut, np.zeros((SLICES, m, n), np.float32)),
    ]
    head = ("", "blocks", "loads of a thread", "words stored")
    return table(f"A product of {m}×{n}×{k}, counted on the virtual GPU", head, rows)


def _row(name: str, kernel: Callable, launch: Launch, out: np.ndarray) -> tuple:
    """Return four cells: a kernel's name, the number of blocks, and its loaded and stored words.

    The loaded words are the mean of all threads, rounded down, and the stored ones, as text, those
    of the whole launch.
    """
    m, n, k = SHAPE
    a, b = draw("integers", (m, k), 1), draw("integers", (k, n), 2)
    traced = trace(kernel, launch.grid, launch.block, a, b, out)
    words = {
        kind: sum(one.words for one in traced.access_counts if one.kind == kind)
        for kind in ("load", "store")
    }
    each = words["load"] // (launch.blocks * launch.threads)
    return name, launch.blocks, each, f"{words['store']:,}"
