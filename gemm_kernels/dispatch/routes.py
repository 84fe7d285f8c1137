"""The routes to a product: which kernel, with or without copies, should be fastest."""

from __future__ import annotations

from dataclasses import dataclass

from gemm_kernels import autotuned
from gemm_kernels.dispatch import constants, estimate
from gemm_kernels.parts.blocks import WIDE
from gemm_kernels.parts.strided import Tiling
from utils.division import cdiv
from utils.ladder.shapes import FLOAT32_BYTES, GemmShape
from utils.ladder.step import Variant
from utils.launching.slots import Slot
from utils.machine.devices import Device

# All orders are the same work; this one's code has the fewest bank conflicts in most tilings.
ORDER = 2
# A shape within this distance of a timed shape takes its constants; see `TimedCandidate.distance`.
NEAR = 0.5
# Offsets of elements are uint32 in the kernels; `parts` cuts arrays that reach farther.
MOST_ELEMENTS = 1 << 32


@dataclass(frozen=True)
class Route:
    """A way to compute a product: a kind of kernel and its tiling.

    kind: "wide" for a kernel that reads 16 bytes at once, from copies of the inputs if necessary;
        "strided" for a kernel that reads any array.
    time_us: the estimated time without copies, in microseconds.
    variant: the variant of `autotuned` for "wide"; None for "strided".
    """

    kind: str
    tiling: Tiling
    time_us: float
    variant: Variant | None = None


def fastest(
    shape: GemmShape, inputs: tuple[Slot, Slot], out: Slot, beta: float, device: Device
) -> Route:
    """Return the route with the lowest estimated time, copies included.

    `inputs` are a and b, and `beta` is the factor of the old out, which decides on a blend.
    "strided" is possible only if all offsets are uint32 and the rows of out are contiguous.
    """
    by_wide = wide(shape, device)
    wide_us = by_wide.time_us + copies_us(shape, inputs, out, beta, device)
    if not (all(map(has_offsets, inputs)) and has_plain_rows(out)):
        return by_wide
    tiling, time_us = estimate.best(shape, "strided", device)
    return by_wide if wide_us <= time_us else Route("strided", tiling, time_us)


def fits(array: Slot) -> bool:
    """Return True if the array is in C order without gaps and begins at a multiple of 16 bytes."""
    return array.aligned and array.is_c_contiguous()


def wide(shape: GemmShape, device: Device) -> Route:
    """Return the route "wide" for this shape, with n and k rounded up to multiples of 4.

    Its tiling and time are those of the lowest estimate. Its variant has the constants of the
    nearest timed shape, or those of this tiling if none is near.
    """
    tiling, time_us = estimate.best(padded(shape), "wide", device)
    chosen = constants.nearest(padded(shape), NEAR)
    if chosen is None:
        sizes = ("BM", "BN", "BK", "TM", "TN", "BLOCKS", "SLICES")
        chosen = {name: getattr(tiling, name) for name in sizes} | {"ORDER": ORDER}
    return Route("wide", tiling, time_us, autotuned.STEP.variant(**chosen))


def padded(shape: GemmShape) -> GemmShape:
    """Return the shape with n and k rounded up to multiples of 4."""
    return GemmShape(shape.m, *(cdiv(size, WIDE) * WIDE for size in (shape.n, shape.k)))


def copies_us(
    shape: GemmShape, inputs: tuple[Slot, Slot], out: Slot, beta: float, device: Device
) -> float:
    """Return the estimated microseconds of the copies and the blend that "wide" needs in addition.

    One launch copies both inputs. An input is copied unless it is in C order and aligned, and its
    size along k, and for b along n, is a multiple of 4. An out with
    plain rows needs no blend. Any other out needs one if beta is not 0, if n is no multiple of 4,
    or unless it is in C order and aligned.
    """
    lengths = shape.k, shape.n
    copies = [
        2 * array.size
        for array, length in zip(inputs, lengths, strict=True)
        if length % WIDE or shape.k % WIDE or not fits(array)
    ]
    needs_blend = not has_plain_rows(out) and (beta != 0 or shape.n % WIDE or not fits(out))
    blends = [3 * out.size] if needs_blend else []
    costs, speed = estimate.fitted().costs, estimate.speed_of(device)
    launches = (bool(copies) + len(blends)) * costs.adding_us
    return launches + FLOAT32_BYTES * sum(copies + blends) / (costs.reading * speed.bytes_per_us)


def has_offsets(array: Slot) -> bool:
    """Return True if no stride is negative and all offsets, in elements, are uint32."""
    return min(array.strides) >= 0 and array.extent[1] // FLOAT32_BYTES < MOST_ELEMENTS


def has_plain_rows(out: Slot) -> bool:
    """Return True if the rows of out are contiguous and all its offsets, in elements, are uint32.

    There may be gaps between the rows.
    """
    return has_offsets(out) and _has_rows(out)


def has_columns(out: Slot) -> bool:
    """Return True if out is stored by columns: neighbours in a column are adjacent in memory.

    It is False if neighbours in a row are adjacent, too, or if out has one column.
    """
    return out.strides[0] == FLOAT32_BYTES and not _has_rows(out)


def _has_rows(out: Slot) -> bool:
    """Return True if neighbours in a row of the result are adjacent in memory, or n is 1."""
    return out.strides[1] == FLOAT32_BYTES or out.shape[1] == 1
