"""What Numba lacks: wide memory accesses and asynchronous copies on the GPU, vectors on the CPU.

A second compiler would need these files again and no others. Code that knows a particular kernel
does not belong here.
"""
