"""Numba's types of the parts of a kernel, requested from Numba itself and cached on disk.

`numba_types` types one operation, and `numba_passes` runs Numba's inference on a whole function.
`inferred_types` converts the result to plain JSON, and `function_key` makes its key in the cache.
"""
