"""To be repaired: the roof of the pipe, by the bytes that the loads need."""


def pipe_roof(multiply_adds, rows, broadcasts, peak, bandwidth):
    operations = 2 * 32 * multiply_adds
    moved = 128 * rows + 4 * broadcasts
    return min(peak, operations / moved * bandwidth)
