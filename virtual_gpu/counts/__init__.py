"""What a launch costs in the profiler's units, by source line, and hints on what makes it dear.

`transactions` prices one access of a warp, `counters` adds them up, `recorder` keeps their order.
"""
