"""The kernel of `naive` on managed arrays: no copy in the code, pages migrate where they are used.

With its pages on the GPU the kernel does what `naive` does. What it costs to get them there, and
the wall time with and without copies, is measured by `python -m gemm_kernels transfers`.

In Córdoba 2016 a kernel fills a, b and c, so the pages are born on the GPU, and on a GPU
before Pascal none migrates while a kernel runs. Here a, b and c begin on the host, and pages
migrate when the kernel touches them. `transfers` measures both beginnings.
"""

from dataclasses import replace

import numpy as np
from numba import cuda

from gemm_kernels import naive


def managed(array: np.ndarray):
    """A copy of a host array in managed memory, which the host and the device both address.

    The host writes it here, so its pages begin in the host's memory. The first kernel that touches
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
