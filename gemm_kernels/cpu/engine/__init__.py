"""The machine room of the CPU ladder: matrices, block sizes, five loops, tiles, threads.

It multiplies whatever matrices BLAS may hand over, with the micro-kernel of a step in its middle.
What a reader of the ladder should see stands in the steps; what they share stands here.
"""
