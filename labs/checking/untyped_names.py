"""Names that Numba's CUDA compiler knows only as attributes of `cuda`, such as `threadIdx`.

The virtual GPU interprets `from numba.cuda import threadIdx`, but on a GPU Numba refuses it: a
class that stands for an intrinsic has a type there only behind `cuda.`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from numba import cuda
from numba.cuda.descriptor import cuda_target

from utils.translation import translate
from virtual_gpu import VirtualGpuError
from virtual_gpu.common.source import Source, read_source


def untyped_name(kernel) -> str | None:
    """Return a sentence on a name that Numba cannot compile without `cuda.` before it.

    Such a name, for example `threadIdx`, was imported from `numba.cuda`. The kernel is searched
    before the device functions that it calls. Returns None if there is no such name.
    """
    for source in _sources(kernel, set()):
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Name) and _is_untyped(source.names.get(node.id)):
                site = source.site(node)
                return translate(
                    "Line {line}, `{code}`: Numba cannot compile `{name}` that is imported from "
                    "`numba.cuda`. Write `cuda.{member}`, with `from numba import cuda` above.",
                    line=site.line,
                    code=site.source,
                    name=node.id,
                    member=source.names[node.id].__name__,
                )
    return None


def _sources(kernel, seen: set[int]) -> Iterator[Source]:
    """Yield the source of a kernel and of the compiled functions that it can call, once each.

    A function whose text cannot be read is left out, because its launch says that better. seen: the
    `id` of each function that was yielded before; it is extended.
    """
    if id(kernel) in seen:
        return
    seen.add(id(kernel))
    try:
        source = read_source(kernel.py_func)
    except VirtualGpuError:
        return
    yield source
    used = {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
    for name in sorted(used):
        called = source.names.get(name)
        if hasattr(called, "py_func"):
            yield from _sources(called, seen)


def _is_untyped(value: object) -> bool:
    """Return True for a class of `numba.cuda` that Numba cannot type as a global name.

    Return False for any other object, such as a number or a class of another module.
    """
    if not isinstance(value, type) or getattr(cuda, value.__name__, None) is not value:
        return False
    context = cuda_target.typing_context
    context.refresh()
    try:
        context.resolve_value_type(value)
    except ValueError:
        return True
    return False
