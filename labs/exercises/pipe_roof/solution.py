"""The roof of the pipe to shared memory and L1, by its wavefronts."""


def pipe_roof(multiply_adds, rows, broadcasts, peak, bandwidth):
    operations = 2 * 32 * multiply_adds
    moved = 128 * (rows + broadcasts)
    return min(peak, operations / moved * bandwidth)
