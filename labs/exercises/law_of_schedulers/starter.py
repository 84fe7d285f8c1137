"""To be repaired: the share of the peak, as if an SM were one belt."""


def law_of_schedulers(threads, chains):
    by_law = 100 * threads * chains / 512
    return min(100, by_law)
