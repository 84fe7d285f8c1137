"""What Numba lacks: wide memory accesses and asynchronous copies on the GPU, vectors on the CPU.

A second compiler would need these files again and no others. What knows of a kernel stays out.
"""
