"""Everything that is neither a kernel nor prose.

Importing this package on a machine without a CUDA device installs the virtual GPU, so that
``kernel[grid, block](...)`` runs everywhere.
"""

import warnings

from numba import cuda

# Lessons and checks launch a few blocks, and pass host arrays, on purpose.
for _hint in (".*Grid size .* under-utilization", ".*Host array used in CUDA kernel"):
    warnings.filterwarnings("ignore", message=_hint)

if not cuda.is_available():
    import virtual_gpu

    virtual_gpu.install()
