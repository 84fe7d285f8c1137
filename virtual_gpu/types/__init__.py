"""The types that Numba gives to the parts of a kernel, asked of Numba itself and kept on disk.

`numba_types` answers for one operation, `numba_passes` runs Numba's inference on a whole function,
`inferred_types` and `function_key` make plain JSON of what it finds, and a key to find it again.
"""
