"""The share without its limit, the full rate."""


def littles_law(latency, rate, workers, each):
    return 100 * workers * each / (latency * rate)
