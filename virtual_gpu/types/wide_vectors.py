"""``vector.load`` and ``vector.store`` of numba-cuda-mlir, as far as Numba must type them.

They move several neighbouring elements, as a vector type such as ``float32x4``. No machine code is
made of these functions; `language/vectors.py` runs them.
"""

from __future__ import annotations

from numba.core import types
from numba.core.typing import signature
from numba.cuda.vector_types import vector_types
from numba.extending import intrinsic

from .plain_numba import no_code


@intrinsic(target="cuda")
def load(typing_context, array, indices, shape, alignment=None):
    """Return the signature of ``vector.load(array, indices, shape, alignment)``, and ``no_code``.

    The parameters are Numba types, and the call's type is a vector type. Returns None if ``array``
    is no array, or if there is no vector type of its dtype with this number of elements.
    """
    count = getattr(shape, "literal_value", None)
    vector = vector_types.get(f"{getattr(array, 'dtype', None)}x{count}")
    if vector is None or not isinstance(array, types.Array):
        return None
    return signature(vector, array, indices, shape, *_given(alignment)), no_code


@intrinsic(target="cuda")
def store(typing_context, array, index, vector, alignment=None):
    """Return the signature of ``vector.store(array, index, vector, alignment)``, and ``no_code``.

    The parameters are Numba types, and the call's type is that of None. Returns None if ``array``
    is no array.
    """
    if not isinstance(array, types.Array):
        return None
    return signature(types.none, array, index, vector, *_given(alignment)), no_code


def _given(alignment) -> tuple:
    """Return ``(alignment,)``, or ``()`` if the call has no alignment, so that it is None."""
    return () if alignment is None else (alignment,)
