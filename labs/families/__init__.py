"""Families of kernels: the parts that exercises of one kind share.

A family defines its arguments, launch, reference result and targets. Its probes recognise mistakes
from the source code or the values of a run that no table of known mistakes could list.
"""
