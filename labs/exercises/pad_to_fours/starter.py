"""A product by a kernel that needs sides divisible by four: the padding is missing."""

import numpy as np


def pad_to_fours(fast, a, b):
    (m, k), n = a.shape, b.shape[1]
    # About 6 lines: wider copies of a and b, one call of fast, and the part of it that is a·b.
    return np.zeros((m, n), np.float32)
