"""The share of a launch's time for which its busiest resource is busy."""


def busy_share(operations, dram, l2, wavefronts, instructions, ms):
    # About 3 lines: the time that each count takes, the longest of them, its share of `ms`.
    pass
