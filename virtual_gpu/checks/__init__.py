"""The race detector: the order of accesses, the last accesses of each element, and the report.

`clock` numbers accesses, `shadow` keeps the last accesses of each element, `releases` tracks fences
and atomics, and `report` collects findings.
"""
