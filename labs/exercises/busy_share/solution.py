"""The share of a launch's time for which its busiest resource is busy."""


def busy_share(operations, dram, l2, wavefronts, instructions, ms):
    moved = max(dram / 4_294, l2 / 10_231)
    seconds = max(operations / 65_108, moved, wavefronts / 258, instructions / 1_045)
    return 100 * 1000 * seconds / ms
