"""Intrinsics that Numba lacks: wide memory accesses, asynchronous copies, and CPU vectors.

A second compiler would need these files again and no others. Code that knows a particular kernel
does not belong here.
"""
