"""One roof of two: the pipe, and never the peak."""


def pipe_roof(multiply_adds, rows, broadcasts, peak, bandwidth):
    return 64 * multiply_adds / (128 * (rows + broadcasts)) * bandwidth
