"""The checker: what an exercise is, how a reader's kernel is run, and what is said of it.

It knows no exercise and no family of exercises: those hand it what they know of their kernels.
"""
