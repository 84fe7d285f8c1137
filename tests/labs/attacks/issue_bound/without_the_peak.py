"""The share without its limit, the peak."""


def issue_bound(instructions, multiply_adds, lanes):
    return 100 * multiply_adds * 32 / lanes / instructions
