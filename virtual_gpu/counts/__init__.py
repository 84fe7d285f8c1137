"""The cost of a launch in the profiler's units, by source line, and hints on avoidable cost.

`transactions` computes the cost of one access of a warp, `counters` adds these costs up, and
`recorder` keeps the order of events.
"""
