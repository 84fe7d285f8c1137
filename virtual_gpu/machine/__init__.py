"""What runs while a kernel runs: a batch of blocks, its clock, and where its accesses go.

`run` is what the closures of a kernel share; `place` and `access` lead from indices to memory.
"""
