"""The execution of a kernel by a batch of blocks, from its launch limits to each memory access.

`run` holds the state that a kernel's closures share. `place` checks indices, and `access` performs
loads, stores and atomics.
"""
