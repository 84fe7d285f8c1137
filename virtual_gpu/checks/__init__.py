"""Who touched which element, and when: races are found here and collected in a report.

`clock` numbers accesses, `shadow` keeps the last ones of each element, `releases` knows fences.
"""
