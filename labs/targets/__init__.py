"""Targets: counts that a kernel of an exercise must reach, each with the sentence for a miss.

Those of counts.py come from the virtual GPU, the others from source code or machine code.
"""
