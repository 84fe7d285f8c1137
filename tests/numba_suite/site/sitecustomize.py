"""Python runs this file at its start: processes that Numba's tests start have no device, either."""

from utils import virtual_gpu

virtual_gpu.install()
