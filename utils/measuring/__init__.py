"""How fast: timing, records on disk, the roofline, and the command lines that make records.

One way: shape, calls, timing, record, table. What draws stays out, and so does the text of lessons.
"""
