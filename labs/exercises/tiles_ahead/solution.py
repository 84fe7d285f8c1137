"""The number of tiles by which loads must be ahead of their use."""


def tiles_ahead(latency, instructions, warps):
    cycles = instructions * warps
    return -(-latency // cycles)
