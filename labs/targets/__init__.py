"""Targets: counts that a kernel of an exercise must reach, each with a sentence on a miss.

The counts of `counts` come from the virtual GPU, the others from source code or machine code.
"""
