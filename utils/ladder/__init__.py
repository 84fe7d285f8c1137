"""Ladders and their steps: `Step`, `Variant`, `Ladder`, tasks, shapes, problems and verdicts.

The package also binds the libraries that a ladder is measured against, and runs a step on the
virtual GPU. Code that knows about clocks, records, pandas or Jupyter does not belong here.
"""
