"""The checker: the record of an exercise, the run of a reader's kernel, and the verdict on it.

The checker depends on no single exercise or family; these pass in what is special to their kernels.
"""
