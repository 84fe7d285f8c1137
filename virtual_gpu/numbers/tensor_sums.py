"""The sums of a tensor core: what ``mma`` adds up, and how it rounds.

Products of 16-bit numbers are exact. The tensor core aligns all products of an instruction, and the
number that they are added to, to the largest exponent among them, keeps ALIGNED_BITS bits behind
the binary point of each, drops the others, adds exactly, and truncates the sum to float32. Nothing
is rounded to nearest, so every sum is biased towards zero.

The virtual GPU does this as Hopper (H100, H200) does. Two studies give models that equal the
hardware in every bit of their tests: Khattak and Mikaitis, "Accurate Models of NVIDIA Tensor
Cores", arXiv:2512.07004, and Xie et al., "Bit-Accurate Modeling of GPU Matrix Multiply-Accumulate
Units", arXiv:2511.10909. `virtual_gpu/tests/kernels/tensor_rounding.py` compares a device with this
model: an H200 gave the same bits in all 36 of its tests, with 65,536 sums each
(`data/measured/nvidia_h200/tensor_rounding.csv`). Turing and Ampere keep 24 bits, and Ampere adds 8
products at a time, so their results differ in the last bits.

Unless inputs are subnormal, a result r differs from the exact sum of its k + 1 terms t by less than
2⁻²³·|r| + (k + 1)·2⁻²⁵·max|t|, if |r| is no subnormal float32 either.
"""

from __future__ import annotations

import numpy as np

ALIGNED_BITS = 25
LEAST_ALIGNED = -133  # terms are not aligned to a smaller exponent
LEAST_EXPONENT = -126  # of float32
FRACTION_BITS = 23  # of float32
NO_EXPONENT = -9999  # of a term that is 0
ONLY_NAN = np.uint32(0x7FFFFFFF).view(np.float32)  # a tensor core returns no other NaN


def from_bfloat16(bits: np.ndarray) -> np.ndarray:
    """Return the values (float32) of bfloat16 numbers, which are given by their bits (uint16)."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def multiply_add(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return a·b + c for each warp, rounded as a tensor core does, in float32.

    ``a`` has the shape (warps, m, k), ``b`` (warps, k, n) and ``c`` (warps, m, n). ``a`` and ``b``
    are float16, or float32 with the values of bfloat16 numbers; ``c`` is float32.
    """
    terms = np.empty((*c.shape, a.shape[2] + 1))
    with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinity are numbers here
        columns = b.swapaxes(1, 2)[:, None].astype(np.float64)
        np.multiply(a[:, :, None].astype(np.float64), columns, out=terms[..., :-1])
        terms[..., -1] = c
        plain = terms.sum(axis=-1)
        finite = np.isfinite(plain)
        terms[~finite] = 0
        sums = np.where(finite, _aligned_sum(terms, _exponents(a, b, c)), plain)
        sums = sums.astype(np.float32)
    return np.where(np.isnan(sums), ONLY_NAN, sums)


def _exponents(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return the largest exponent of the terms of each sum, in the shape of ``c``.

    The exponent of a product is the sum of those of its factors, because it is not normalised.
    Terms that are 0 do not count. No exponent is less than that of a subnormal number of its dtype,
    and none of the result less than LEAST_ALIGNED.
    """
    of_a, of_b = _exponent(a)[:, :, None], _exponent(b).swapaxes(1, 2)[:, None]
    return np.maximum((of_a + of_b).max(axis=-1), np.maximum(_exponent(c), LEAST_ALIGNED))


def _exponent(values: np.ndarray) -> np.ndarray:
    """Return e per value with 2ᵉ ≤ |value| < 2ᵉ⁺¹, but at least that of subnormal numbers.

    The exponent of 0 is NO_EXPONENT.
    """
    exponents = np.maximum(np.frexp(values)[1] - 1, np.finfo(values.dtype).minexp)
    return np.where(values == 0, NO_EXPONENT, exponents)


def _aligned_sum(terms: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return the sums of ``terms`` over the last axis, truncated to float32, as float64.

    ``exponents`` holds the exponent to which the terms of each sum are aligned.
    """
    # Powers of two within float64: each product below is exact, and so is the sum.
    aligned = np.trunc(terms * np.ldexp(1.0, ALIGNED_BITS - exponents)[..., None])
    sums = aligned.sum(axis=-1) * np.ldexp(1.0, exponents - ALIGNED_BITS)
    last = np.maximum(np.frexp(sums)[1] - 1, LEAST_EXPONENT) - FRACTION_BITS
    return np.trunc(sums * np.ldexp(1.0, -last)) * np.ldexp(1.0, last) + 0.0
