"""Packages that the course is built with: ladders, measuring, figures, lessons and intrinsics.

Importing this package changes nothing. Import `kernels_anywhere` to let kernels run without a CUDA
device.
"""
