"""The host side of `numba.cuda`: device arrays, copies, streams, events and device properties.

Launches are in the package `launching`.
"""
