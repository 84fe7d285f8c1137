"""Commands that make the tables of `data/` that do not record a ladder's times.

The tables hold compiled code, counts, comparisons and profiles.
"""
