"""One roof of two: the bandwidth, and never the peak."""


def attainable(BM, BN, peak, bandwidth):
    return BM * BN / (2 * (BM + BN)) * bandwidth
