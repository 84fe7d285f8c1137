"""The number of slices along k for the tiles of c, by an estimate of the time."""


def slices(tiles, sms, steps):
    # About 10 lines: try 1, 2, 3, 4, 6, 8 and 12 slices, estimate each, keep the best.
    pass
