"""The number of tiles by which loads must be ahead of their use."""


def tiles_ahead(latency, instructions, warps):
    # About 2 lines: the cycles of one iteration, and how many iterations a load needs.
    pass
