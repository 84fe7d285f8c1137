"""The memory of the virtual GPU: storage, arrays over it, and what nobody has set.

`memory` is global memory and the arrays of a kernel, `shared` what the threads of a block share.
"""
