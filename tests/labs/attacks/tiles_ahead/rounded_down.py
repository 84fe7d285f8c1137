"""Right only where the latency is a multiple of an iteration."""


def tiles_ahead(latency, instructions, warps):
    return max(1, latency // (instructions * warps))
