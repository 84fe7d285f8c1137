"""The highest rate of a product in tiles, by the roofline."""


def attainable(BM, BN, peak, bandwidth):
    # About 4 lines: operations of a block for one k, its bytes for one k, and then two ceilings.
    pass
