"""The wavefronts of eight rows of a tile, by the length of a row."""


def ldmatrix_wavefronts(columns):
    chunks = columns // 8
    rows_per_group = [0] * 8
    for row in range(8):
        rows_per_group[row * chunks % 8] += 1
    return max(rows_per_group)
