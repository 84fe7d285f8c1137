"""The share of a belt's full rate, by Little's law."""


def littles_law(latency, rate, workers, each):
    # About 2 lines: how many boxes must be under way, and the share that is.
    pass
