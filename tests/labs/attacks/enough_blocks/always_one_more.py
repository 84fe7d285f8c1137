"""Right only where the last block is not full."""


def enough_blocks(elements, threads):
    return elements // threads + 1
