"""The shared memory that a block of the tiled product asks for."""


def required_shared(side):
    # About 1 line: the bytes of all that a block keeps in shared memory.
    pass
