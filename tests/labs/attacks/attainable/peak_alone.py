"""One roof of two: the peak, and never the bandwidth."""


def attainable(BM, BN, peak, bandwidth):
    return peak
