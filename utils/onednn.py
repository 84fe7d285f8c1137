"""oneDNN's sgemm, where its library is installed: the rival of the sources' CPU lesson.

`pip install onednn-cpu-gomp` brings the library; any other libdnnl that the loader finds will do.
ONEDNN_MAX_CPU_ISA=AVX2 limits it to AVX2, and is read once, before the first call.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from functools import cache, partial
from pathlib import Path

from utils.timing import Execution, Library

_SIZE, _FLOAT, _POINTER = ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
_ARGUMENTS = (
    *(ctypes.c_char, ctypes.c_char, _SIZE, _SIZE, _SIZE, _FLOAT),
    *(_POINTER, _SIZE, _POINTER, _SIZE, _FLOAT, _POINTER, _SIZE),
)


@cache
def _sgemm():
    """dnnl_sgemm, which is row-major; None where there is no libdnnl."""
    installed = sorted(Path(sys.prefix, "lib").glob("libdnnl.so*"))
    for name in (*map(str, installed), ctypes.util.find_library("dnnl"), "libdnnl.so.3"):
        try:
            function = ctypes.CDLL(name).dnnl_sgemm if name else None
        except (OSError, AttributeError):
            continue
        if function:
            function.argtypes = _ARGUMENTS
            return function
    return None


def _bind(inputs: tuple, out) -> Execution | None:
    function = _sgemm()
    if function is None:
        return None
    (a, b), c = inputs, out.copy()
    (m, k), n = a.shape, b.shape[1]
    pointers = (array.ctypes.data_as(_POINTER) for array in (a, b, c))
    a_pointer, b_pointer, c_pointer = pointers
    return partial(
        function, b"N", b"N", m, n, k, 1.0, a_pointer, k, b_pointer, n, 0.0, c_pointer, n
    )


ONEDNN = Library("oneDNN", _bind)
