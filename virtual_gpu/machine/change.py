"""A change of what threads get from shared memory or by shuffles, to see whether a result needs it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Change:
    """Adds 1 to some values that the threads of a block get, in a launch of this block alone.

    ``array`` is the name of a shared array, or "" for shuffles. ``first`` (int64, one entry per
    thread of the block) is the first of ``width`` consecutive elements of the array whose value
    changes for the thread, at each of its loads; for shuffles it is the lane that the thread reads
    from. It is -1 for a thread for which nothing changes.
    """

    array: str
    first: np.ndarray
    width: int = 1

    def applied(self, array: str, threads: np.ndarray, elements, values: np.ndarray) -> np.ndarray:
        """Return the values that threads get, changed where this Change asks for it.

        ``threads``, the threads' numbers in the block, ``elements``, the element or lane from which
        each gets its value, and ``values`` have one entry per thread. A changed number is larger by
        1, and a changed bool is negated. For another ``array``, ``values`` itself is returned.
        """
        if array != self.array:
            return values
        real = threads < len(self.first)  # the others are padding
        first = np.where(real, self.first[np.where(real, threads, 0)], -1)
        hit = (first >= 0) & (first <= elements) & (elements < first + self.width)
        changed = ~values if values.dtype == bool else values + values.dtype.type(1)
        return np.where(hit, changed, values)
