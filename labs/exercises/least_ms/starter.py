"""The least time of a matrix product in milliseconds."""


def least_ms(n, instructions, lines, sms, mhz):
    # About 4 lines: the multiply-adds of an SM, the cycles of one, and the milliseconds of all.
    pass
