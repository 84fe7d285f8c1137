"""Shared memory: the arrays that the threads of one block share.

The blocks of a batch run together, so each allocation holds one part per block, in the order of the
blocks.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

import numpy as np

from virtual_gpu.common.division import cdiv

from ..checks.shadow import Shadow
from ..common.errors import LaunchError
from .filling import Filling
from .memory import ArrayView, BlockPart, Memory
from .overlap import Views

MAX_SHARED_BYTES = 48 * 1024


class SharedMemory:
    """The shared arrays of one batch.

    ``dynamic_bytes`` is the dynamic shared memory per block that the launch requests. Before the
    shared memory of a block grows, ``check`` is called with its new size in bytes.

    All views of the dynamic memory share its bytes and one shadow, whose units are the elements of
    the smallest view.
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
        self._declared = Views()
        self._views: dict[tuple[ast.AST, np.dtype], Memory] = {}

    def static(
        self, node: ast.AST, name: str, shape: tuple[int, ...], dtype: np.dtype
    ) -> Memory:
        """Return the Memory of the array that this node of the source declares.

        It is created on first use and cached by node, shape and dtype, so a function that is called
        with another constant shape has another array. Raises LaunchError if the static and dynamic
        shared memory of a block would exceed MAX_SHARED_BYTES.
        """
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
            data = self._filling.array(size * self._blocks, dtype)
            self._static[key] = _shared_memory(name, data, part)
        return self._static[key]

    @property
    def memories(self) -> list[Memory]:
        """A list of the Memories of all static shared arrays and dynamic views created so far.

        Those that ``static_part`` returns are left out; they share the bytes of a static array.
        """
        return [*self._static.values(), *self._views.values()]

    def static_part(self, node: ast.AST, name: str, size: int, dtype: np.dtype) -> Memory:
        """Return a Memory over the bytes of an array of records, viewed as numbers of one dtype.

        ``size`` is the size of the array in bytes. Fields of other dtypes have other bytes, so each
        dtype has a shadow of its own.
        """
        key = (node, size, dtype)
        if key not in self._parts:
            whole = self.static(node, name, (size,), np.dtype(np.uint8))
            part = BlockPart((size // dtype.itemsize,), size)
            self._parts[key] = _shared_memory(name, whole.data.view(dtype), part)
        return self._parts[key]

    def dynamic(self, node: ast.AST, name: str, dtype: np.dtype, function: str) -> ArrayView:
        """Return the dynamic shared memory of a block, viewed as a vector of this dtype.

        ``node`` of the source declares the view, in ``function``. The vector has as many elements
        as fit whole into the bytes of the launch, perhaps none.
        """
        key = node, dtype
        if key not in self._views:
            view = self._views[key] = self._view_as(name, dtype)
            view.view = self._declared.declare((function, dtype), name, view.shadow)
        return ArrayView(self._views[key], (self._dynamic_bytes // dtype.itemsize,), (1,))

    def _view_as(self, name: str, dtype: np.dtype) -> Memory:
        """Return a new Memory over all blocks' dynamic shared memory, as elements of ``dtype``.

        The first view creates the bytes and the shadow, which later views share. A view with
        smaller elements splits the units of the shadow.
        """
        # A multiple of every element size, so that each block's views are aligned.
        room = cdiv(self._dynamic_bytes, 16) * 16
        part = BlockPart((self._dynamic_bytes // dtype.itemsize,), room)
        if not self._views:
            whole = self._filling.array(room * self._blocks, np.dtype(np.uint8))
            return _shared_memory(name, whole.view(dtype), part)
        first = next(iter(self._views.values()))
        data = first.data.view(dtype)
        if data.size > first.shadow.writer.size:
            first.shadow.refine(data.size // first.shadow.writer.size)
        return Memory(name, "shared", data, first.shadow, part=part)


def _shared_memory(name: str, data: np.ndarray, part: BlockPart) -> Memory:
    """Return a Memory in shared space with a shadow of one unit per element."""
    return Memory(name, "shared", data, Shadow(name, "shared", data.size), part=part)
