"""Shared memory: the arrays that the threads of one block have in common.

The blocks of a batch run together, so each allocation holds one part for every block, in the order
of the blocks.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

import numpy as np

from ..checks.shadow import Shadow
from ..common.errors import LaunchError
from .filling import Filling
from .memory import ArrayView, BlockPart, Memory

MAX_SHARED_BYTES = 48 * 1024


class SharedMemory:
    """The shared arrays of one batch. ``dynamic_bytes``: what the launch asks for, in each block.
    ``check`` is handed the bytes of a block before they grow.

    All views of the dynamic memory share its bytes, and one shadow whose units are the smallest
    view's elements.
    """

    def __init__(
        self,
        blocks: int,
        dynamic_bytes: int,
        filling: Filling,
        check: Callable[[int], None] | None = None,
    ):
        self._filling = filling
        self._blocks = blocks
        self._check = check
        self._dynamic_bytes = dynamic_bytes
        self._static: dict[tuple[ast.AST, tuple[int, ...], np.dtype], Memory] = {}
        self._parts: dict[tuple[ast.AST, int, np.dtype], Memory] = {}
        self._views: dict[np.dtype, Memory] = {}

    def static(
        self, node: ast.AST, name: str, shape: tuple[int, ...], dtype: np.dtype
    ) -> Memory:
        """The array of this source line: made once per block, however often it is met. A function
        that is called with other constants has an array of its own."""
        key, size = (node, shape, dtype), math.prod(shape)
        if key not in self._static:
            used = sum(m.data.nbytes for m in self._static.values()) // self._blocks
            total = used + self._dynamic_bytes + size * dtype.itemsize
            if total > MAX_SHARED_BYTES:
                raise LaunchError(
                    f"The kernel asks for {total} bytes of shared memory with {name}; a block has "
                    f"{MAX_SHARED_BYTES}; make the array smaller."
                )
            if self._check:
                self._check(total)
            part = BlockPart(shape, size * dtype.itemsize)
            self._static[key] = _new(name, self._filling.array(size * self._blocks, dtype), part)
        return self._static[key]

    @property
    def memories(self) -> list[Memory]:
        """Every shared array that is there by now."""
        return [*self._static.values(), *self._views.values()]

    def static_part(self, node: ast.AST, name: str, size: int, dtype: np.dtype) -> Memory:
        """The bytes of an array of records, seen as numbers of one type. Fields of other types lie
        elsewhere, so each type has a shadow of its own."""
        key = (node, size, dtype)
        if key not in self._parts:
            whole = self.static(node, name, (size,), np.dtype(np.uint8))
            part = BlockPart((size // dtype.itemsize,), size)
            self._parts[key] = _new(name, whole.data.view(dtype), part)
        return self._parts[key]

    def dynamic(self, name: str, dtype: np.dtype) -> ArrayView:
        """The launch's dynamic shared memory seen as an array of this type."""
        if dtype not in self._views:
            self._views[dtype] = self._seen_as(name, dtype)
        return ArrayView(self._views[dtype], (self._dynamic_bytes // dtype.itemsize,), (1,))

    def _seen_as(self, name: str, dtype: np.dtype) -> Memory:
        # Room for whole elements of every type, so that each block's views line up.
        room = -(-self._dynamic_bytes // 16) * 16
        part = BlockPart((self._dynamic_bytes // dtype.itemsize,), room)
        if not self._views:
            whole = self._filling.array(room * self._blocks, np.dtype(np.uint8))
            return _new(name, whole.view(dtype), part)
        first = next(iter(self._views.values()))
        data = first.data.view(dtype)
        if data.size > first.shadow.writer.size:
            first.shadow.refine(data.size // first.shadow.writer.size)
        return Memory(name, "shared", data, first.shadow, part=part)


def _new(name: str, data: np.ndarray, part: BlockPart) -> Memory:
    return Memory(name, "shared", data, Shadow(name, "shared", data.size), part=part)
