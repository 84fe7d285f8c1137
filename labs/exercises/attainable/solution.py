"""The highest rate of a product in tiles, by the roofline."""


def attainable(BM, BN, peak, bandwidth):
    operations = 2 * BM * BN
    moved = 4 * (BM + BN)
    intensity = operations / moved
    return min(peak, intensity * bandwidth)
