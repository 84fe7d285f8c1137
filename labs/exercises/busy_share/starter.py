"""The share of a launch's time for which its busiest resource is busy."""


def busy_share(operations, dram, l2, wavefronts, instructions, ms):
    # Rates of an H200, in 10^9 per second: 65_108 operations, 4_294 bytes of DRAM,
    # 10_231 bytes of L2, 258 wavefronts, 1_045 instructions.
    # About 3 lines: the time that each count takes, the longest of them, its share of `ms`.
    pass
