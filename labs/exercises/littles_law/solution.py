"""The share of a belt's full rate, by Little's law."""


def littles_law(latency, rate, workers, each):
    needed = latency * rate
    return min(100, 100 * workers * each / needed)
