"""The engine of the CPU ladder: matrices, block sizes, five loops, tiles, threads.

It multiplies any matrices that BLAS accepts, with the micro-kernel of a step as its innermost part.
The steps contain what a reader of the ladder should see; the engine contains what they share.
"""
