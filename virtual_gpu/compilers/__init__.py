"""Kernels of another compiler: converted once, so that all other code knows Numba's alone.

``kernels`` takes a kernel of either compiler. ``conversion`` turns one of numba-cuda-mlir into an
equal one of Numba. ``counterparts`` says which name of Numba stands for a name of that compiler,
and ``declarations`` keeps the signatures that a kernel was declared with.
"""
