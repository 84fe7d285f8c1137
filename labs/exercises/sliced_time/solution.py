"""The time of a product in slices, whose copies run beside the kernels."""


def sliced_time(b, a, kernel, c, slices):
    stages = a / slices, kernel / slices, c / slices
    return b + sum(stages) + (slices - 1) * max(stages)
