"""The greatest share of the peak that a loop can reach by its instructions."""


def issue_bound(instructions, multiply_adds, lanes):
    # About 3 lines: the cycles of one multiply-add, the share, and the most that it can be.
    pass
