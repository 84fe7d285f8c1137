"""Launches of kernels: their arguments and checks, `trace`, and Numba's launch syntax.

`launch` runs a grid batch by batch. `installation` redirects `kernel[grid, block](...)` to the
virtual GPU with the methods in `dispatcher_methods`. `tracing` has the function `trace`.
"""
