"""The law, without the schedulers that have no warp."""


def law_of_schedulers(threads, chains):
    return min(100, 100 * threads * chains / 512)
