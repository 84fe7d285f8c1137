"""Foundations of the virtual GPU: errors, threads as lanes, source text, and launch limits.

These modules import nothing from the other packages of ``virtual_gpu``.
"""
