"""The kernel of `naive` on managed arrays: no copies in the code, pages migrate on first use.

With its pages on the GPU, the kernel does what `naive` does. `python -m gemm_kernels transfers`
measures what it costs to move the pages there, and the wall time with and without copies.

In Córdoba 2016 a kernel fills a, b and c, so the pages are allocated on the GPU, and on a GPU
before Pascal none migrates while a kernel runs. Here a, b and c begin on the host, and pages
migrate when the kernel touches them. `transfers` measures both cases.
"""

from dataclasses import replace

import numpy as np
from numba import cuda

from gemm_kernels import naive


def managed(array: np.ndarray):
    """Return a copy of a host array in managed memory, which the host and the device both address.

    The host writes the copy, so its pages begin in the host's memory. The first kernel that touches
    a page stops until the page has migrated, and so does the host when it reads a result.
    """
    copy = cuda.managed_array(array.shape, array.dtype)
    copy[...] = array
    return copy


STEP = replace(
    naive.STEP,
    module=__name__,
    name="unified_memory",
    idea="the same kernel on managed memory: no copies to write, and no faster; pages migrate",
    previous="naive",
    place=managed,
)
