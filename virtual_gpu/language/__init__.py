"""Compiles a kernel's source text into Python closures that run it on NumPy vectors of lanes.

`compiler` is the entry point. `intrinsics` lists the functions that a kernel can call, and
`extension` lets users add their own.
"""
