"""Fast launches for functions: plans, packed arguments, workspace, streams, arrays of any library.

A function describes its launches once, as a plan made from `Call`s. Later calls change only
pointers and factors. No module here knows a particular kernel, and only these modules use private
parts of the compilers.
"""
