"""The rate of a matrix product in GFLOP/s."""


def gflops(m, n, k, us):
    # About 3 lines: the operations, the seconds, and the rate.
    pass
