"""The fill value of memory and variables that nobody has set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Filling:
    """A fill value: the same byte everywhere.

    ``byte`` is this byte, 0 to 255. ``is_rerun`` is True in a repetition of a launch, in which
    ``print`` writes nothing. In the shared array with the name ``disturbs``, stale elements, which
    checks/stale.py defines, are larger by 1 when they are read; "" disturbs no array.
    """

    byte: int
    is_rerun: bool = True
    disturbs: str = ""

    def array(self, size: int, dtype: np.dtype) -> np.ndarray:
        """Return a new vector of ``size`` elements, each byte of which is the fill value.

        For bool and a value other than 0, the elements are True. Pages of zeros cost nothing until
        they are touched.
        """
        if self.byte == 0:
            return np.zeros(size, dtype)
        if dtype.kind == "b":
            return np.ones(size, bool)
        return np.full(size * dtype.itemsize, self.byte, np.uint8).view(dtype)

    def value(self, dtype: np.dtype) -> np.generic:
        """Return one number of this dtype, filled as in ``array``."""
        return self.array(1, dtype)[0]


ZEROS = Filling(0, is_rerun=False)
ZEROS_AGAIN = Filling(0)
# First NaN and -1, which compare unlike 0 with everything; then a large number of every type.
NONZERO_FILLINGS = (Filling(0xFF), Filling(0x7E))
