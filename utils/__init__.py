"""What the course is made with: ladders, measuring, figures, lessons, and what Numba lacks.

Importing it changes nothing; `kernels_anywhere` lets kernels run without a CUDA device.
"""
