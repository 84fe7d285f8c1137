"""A launch: its arguments and its checks, `trace`, and Numba's own launch syntax.

`launch` runs a grid batch by batch, `seam` lets `kernel[grid, block](...)` come here, and `tracing`
is the function `trace`.
"""
