"""The share of a belt's full rate, by Little's law."""


def littles_law(latency, rate, workers, each):
    # About 2 lines: what must be under way. Return the share of it that is, in percent.
    pass
