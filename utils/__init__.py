"""Everything that is neither a kernel nor prose.

Importing this package on a machine without a CUDA device installs the virtual GPU, so that
``kernel[grid, block](...)`` runs everywhere.
"""

from numba import cuda

from . import virtual_gpu

if not cuda.is_available():
    virtual_gpu.install()
