"""The fast path of functions: plans, packed arguments, workspace, streams, arrays of any library.

A function describes its launches once, as a plan; from then on only pointers and factors change.
What enters is `Call`s. Nothing here knows a kernel, and nothing of Numba that is private is used
elsewhere.
"""
