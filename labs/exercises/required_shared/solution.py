"""The shared memory that a block of the tiled product asks for."""


def required_shared(side):
    return 2 * side * side * 4
