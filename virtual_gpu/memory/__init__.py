"""The memory of the virtual GPU: storage, arrays over it, and undefined values.

`memory` holds global memory and the arrays that a kernel sees, `shared` the memory that the threads
of a block share.
"""
