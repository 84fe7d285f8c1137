"""Measuring: timing, records on disk, the roofline, and the command lines that make records.

Data goes one way: shape, calls, timing, record, table. Code that draws and the text of lessons do
not belong here.
"""
