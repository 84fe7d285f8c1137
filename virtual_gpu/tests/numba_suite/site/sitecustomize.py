"""Python runs this file at its start: processes that Numba's tests start have no device, either."""

import virtual_gpu

virtual_gpu.install()
