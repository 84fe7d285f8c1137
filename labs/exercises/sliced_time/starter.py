"""The time of a product in slices, whose copies run beside the kernels."""


def sliced_time(b, a, kernel, c, slices):
    # About 2 lines. This is the time without slices:
    return b + a + kernel + c
