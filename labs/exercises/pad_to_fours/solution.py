"""A product by a kernel that needs sides divisible by four: the inputs get columns of zeros."""

import numpy as np


def pad_to_fours(fast, a, b):
    (m, k), n = a.shape, b.shape[1]
    wide_k, wide_n = -(-k // 4) * 4, -(-n // 4) * 4
    wide_a = np.zeros((m, wide_k), np.float32)
    wide_b = np.zeros((wide_k, wide_n), np.float32)
    wide_a[:, :k] = a
    wide_b[:k, :n] = b
    return fast(wide_a, wide_b)[:, :n]
