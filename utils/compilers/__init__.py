"""The compiler of the kernels: which one is used, and how its names reach the course's files.

`choice` says which compiler is used. `imports` lets a file that says `from numba import cuda` use
another one. Code that compiles a kernel belongs into `gpu_xray`, and functions that a compiler
lacks into `utils.intrinsics`.
"""
