"""Right only where the size of a block is a power of two."""


def enough_blocks(elements, threads):
    power = 0
    while 2 ** (power + 1) <= threads:
        power += 1
    return (elements + 2**power - 1) // 2**power
