"""Python runs this file at its start, so that processes started by Numba's tests have no device."""

import virtual_gpu

virtual_gpu.install()
