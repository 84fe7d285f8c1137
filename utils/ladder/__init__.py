"""What a rung is: `Step` and its `calls`, `Variant`, `Ladder`; tasks, shapes, problems, verdicts.

Here too: the libraries that a ladder is measured against, and a step on the virtual GPU. What knows
of clocks, records, pandas or Jupyter stays out.
"""
