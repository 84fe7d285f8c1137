"""Families of kernels: what exercises of one kind share.

Each knows its arguments, its launch, its right result and its targets, and the mistakes that are
read from the text or the numbers of a run because no table of known mistakes could list them.
"""
