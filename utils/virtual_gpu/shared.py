"""Shared memory: the arrays that the threads of one block have in common.

The blocks of a batch run together, so each allocation holds one part for every block, in the order
of the blocks.
"""

from __future__ import annotations

import ast

import numpy as np

from .errors import LaunchError
from .memory import ArrayView, Memory
from .shadow import Shadow

MAX_SHARED_BYTES = 48 * 1024


class SharedMemory:
    """The shared arrays of one batch. ``dynamic_bytes``: what the launch asks for, in each block.

    All views of the dynamic memory share its bytes, and one shadow whose units are the smallest
    view's elements.
    """

    def __init__(self, blocks: int, dynamic_bytes: int):
        self._blocks = blocks
        self._dynamic_bytes = dynamic_bytes
        self._static: dict[ast.AST, Memory] = {}
        self._views: dict[np.dtype, Memory] = {}

    def static(self, node: ast.AST, name: str, size: int, dtype: np.dtype) -> Memory:
        """The array of this source line: made once per block, however often it is met."""
        if node not in self._static:
            used = sum(m.data.nbytes for m in self._static.values()) // self._blocks
            total = used + self._dynamic_bytes + size * dtype.itemsize
            if total > MAX_SHARED_BYTES:
                raise LaunchError(
                    f"The kernel asks for {total} bytes of shared memory with {name}; a block has "
                    f"{MAX_SHARED_BYTES}; make the array smaller."
                )
            self._static[node] = _new(name, np.zeros(size * self._blocks, dtype))
        return self._static[node]

    def dynamic(self, name: str, dtype: np.dtype) -> ArrayView:
        """The launch's dynamic shared memory seen as an array of this type."""
        if dtype not in self._views:
            self._views[dtype] = self._seen_as(name, dtype)
        return ArrayView(self._views[dtype], (self._dynamic_bytes // dtype.itemsize,), (1,))

    def _seen_as(self, name: str, dtype: np.dtype) -> Memory:
        if not self._views:
            # Room for whole elements of every type, so that each block's views line up.
            room = -(-self._dynamic_bytes // 16) * 16
            return _new(name, np.zeros(room * self._blocks, np.uint8).view(dtype))
        first = next(iter(self._views.values()))
        data = first.data.view(dtype)
        if data.size > first.shadow.writer.size:
            first.shadow.refine(data.size // first.shadow.writer.size)
        return Memory(name, "shared", data, first.shadow)


def _new(name: str, data: np.ndarray) -> Memory:
    return Memory(name, "shared", data, Shadow(name, "shared", data.size))
