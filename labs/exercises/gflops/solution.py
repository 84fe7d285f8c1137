"""The rate of a matrix product in GFLOP/s."""


def gflops(m, n, k, us):
    operations = 2 * m * n * k
    seconds = us / 10**6
    return operations / seconds / 10**9
