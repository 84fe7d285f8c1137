"""The share of the peak that chains of multiply-adds reach on the four schedulers of an SM."""


def law_of_schedulers(threads, chains):
    warps = threads // 32
    fullest = (warps + 3) // 4
    by_law = 100 * threads * chains / 512
    return min(100 * warps / (4 * fullest), by_law)
