"""The wavefronts of eight rows of a tile, by the length of a row."""


def ldmatrix_wavefronts(columns):
    # About 1 to 5 lines.
    pass
