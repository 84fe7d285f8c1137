"""Problem sizes, and the operations and bytes that follow from them."""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass

from utils.errors import CourseError

FLOAT32_BYTES = 4
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


@dataclass(frozen=True)
class GemmShape:
    """The shape of C = A·B, where A is m×k, B is k×n and C is m×n, all float32."""

    m: int
    n: int
    k: int

    @property
    def flops(self) -> int:
        """The number of floating-point operations; a multiply-add counts as two."""
        return 2 * self.m * self.n * self.k

    @property
    def bytes_min(self) -> int:
        """The least number of bytes that must move: A and B are read once, C is written once."""
        m, n, k = astuple(self)
        return FLOAT32_BYTES * (m * k + k * n + m * n)

    def __str__(self) -> str:
        return f"{self.m}×{self.n}×{self.k}"


@dataclass(frozen=True)
class ReduceShape:
    """The shape of a sum of `elements` float32 numbers."""

    elements: int

    @property
    def flops(self) -> int:
        """The number of additions, counted as one per element."""
        return self.elements

    @property
    def bytes_min(self) -> int:
        """The least number of bytes that must move: each element is read once."""
        return FLOAT32_BYTES * self.elements

    def __str__(self) -> str:
        exponent = self.elements.bit_length() - 1
        # Below a thousand, the number itself is easier to read than the power.
        is_power = exponent >= 10 and self.elements == 1 << exponent
        return in_print(f"2^{exponent}") if is_power else str(self.elements)


def in_print(text: str) -> str:
    """Return a text with its powers raised: "2^30" becomes "2³⁰"."""
    return re.sub(r"(?<=\d)\^(\d+)", lambda power: power[1].translate(_RAISED), text)


def parse_gemm(text: str) -> GemmShape:
    """Return the shape that "1024" (square), "2^10" or "2000x600x2000" (m, n, k) describes.

    Raises CourseError for other text.
    """
    sizes = [_size(part) for part in re.split("[x×]", text.strip().lower())]
    if len(sizes) == 1:
        sizes *= 3
    if len(sizes) != 3 or None in sizes:
        raise CourseError(
            f"'{text}' is no matrix size: give a number above 0 for square matrices (1024) or"
            " M x N x K (2000x600x2000)."
        )
    return GemmShape(*sizes)


def parse_reduce(text: str) -> ReduceShape:
    """Return the shape of a sum of "1048576", "2^20" or "2²⁰" elements.

    Raises CourseError for other text.
    """
    elements = _size(text)
    if elements is None:
        raise CourseError(
            f"'{text}' is no number of elements above 0: give one such as 1048576, or a power such"
            " as 2^20."
        )
    return ReduceShape(elements)


def _as_typed(power: re.Match) -> str:
    """Return a matched power with raised digits as it is typed, such as "2^20"."""
    return f"2^{power[1].translate(_LOWERED)}"


def _size(text: str) -> int | None:
    """Return the positive number that "1024", "2^10" or "2¹⁰" describes; None for other text.

    Also None for a number of more than 15 digits, and for an exponent of more than two.
    """
    # A power may be printed, too, because that is how tables show it.
    typed = re.sub("^2([⁰¹²³⁴⁵⁶⁷⁸⁹]+)$", _as_typed, text.strip())
    match = re.fullmatch(r"(?:2\^(?P<exponent>\d{1,2})|(?P<number>\d{1,15}))", typed)
    if match is None:
        return None
    size = 1 << int(match["exponent"]) if match["exponent"] else int(match["number"])
    return size or None
