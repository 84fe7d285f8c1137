"""Compare the sums of ``mma`` on this machine's device with those of ``tensor_sums``, bit by bit.

``python -m virtual_gpu.tests.kernels.tensor_rounding --record FILE.csv`` writes a row for each
instruction and kind of input: instruction, inputs, sums, differing (from the model), and checksums
of the inputs and of the device's sums, by which a later model is compared with the same device. Of
the first sum that differs, the row of a, the column of b, the element of c, the device's result and
the model's are printed as bits. Without a device the virtual GPU is compared with its own model.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numba import cuda, float32, uint16
from numba.types import float16

from utils.intrinsics.tensor import mma_m16n8k8, mma_m16n8k16, mma_m16n8k16_bf16
from virtual_gpu import install
from virtual_gpu.numbers.fragments import element_of_a, element_of_b, element_of_c
from virtual_gpu.numbers.tensor_sums import from_bfloat16, multiply_add

WARPS = 512
LANES = np.arange(32)


@cuda.jit
def mma_of_depth_8(a, b, c):
    of_a = cuda.local.array(4, float16)
    of_b = cuda.local.array(2, float16)
    sums = cuda.local.array(4, float32)
    t = cuda.grid(1)
    for i in range(4):
        of_a[i] = a[t, i]
        sums[i] = c[t, i]
    for i in range(2):
        of_b[i] = b[t, i]
    mma_m16n8k8(sums, of_a, of_b)
    for i in range(4):
        c[t, i] = sums[i]


@cuda.jit
def mma_of_depth_16(a, b, c):
    of_a = cuda.local.array((2, 8), float16)
    of_b = cuda.local.array((2, 4), float16)
    sums = cuda.local.array((3, 4), float32)
    t = cuda.grid(1)
    for i in range(8):
        of_a[1, i] = a[t, i]
    for i in range(4):
        sums[2, i] = c[t, i]
        of_b[1, i] = b[t, i]
    mma_m16n8k16(sums[2], of_a[1], of_b[1])
    for i in range(4):
        c[t, i] = sums[2, i]


@cuda.jit
def mma_of_bfloat16(a, b, c):
    of_a = cuda.local.array((2, 4), uint16)
    of_b = cuda.local.array((2, 2), uint16)
    sums = cuda.local.array(4, float32)
    t = cuda.grid(1)
    for i in range(8):
        of_a[i // 4, i % 4] = a[t, i]
    for i in range(4):
        sums[i] = c[t, i]
        of_b[i // 2, i % 2] = b[t, i]
    mma_m16n8k16_bf16(sums, of_a, of_b)
    for i in range(4):
        c[t, i] = sums[i]


@dataclass(frozen=True)
class Instruction:
    """An instruction: its name, a kernel that makes it once per warp, k, and its inputs' format."""

    name: str
    kernel: Callable
    k: int
    bfloat16: bool = False

    def values(self, bits: np.ndarray) -> np.ndarray:
        """Return the numbers of inputs that are given by their bits (uint16)."""
        return from_bfloat16(bits) if self.bfloat16 else bits.view(np.float16)

    def held(self, bits: np.ndarray) -> np.ndarray:
        """Return the inputs as the kernel takes them."""
        return bits if self.bfloat16 else bits.view(np.float16)


INSTRUCTIONS = (
    Instruction("m16n8k8 float16", mma_of_depth_8, 8),
    Instruction("m16n8k16 float16", mma_of_depth_16, 16),
    Instruction("m16n8k16 bfloat16", mma_of_bfloat16, 16, bfloat16=True),
)


def bits_of(values: np.ndarray, instruction: Instruction) -> np.ndarray:
    """Return the bits of numbers in the format of the inputs; bfloat16 are truncated."""
    if instruction.bfloat16:
        return (values.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return values.astype(np.float16).view(np.uint16)


def inputs(instruction: Instruction, warps: int, rng) -> Iterator[tuple[str, tuple]]:
    """Yield (kind of input, (bits of a, bits of b, c)) with matrices for each warp."""
    shapes = (warps, 16, instruction.k), (warps, instruction.k, 8), (warps, 16, 8)

    def normal():
        a, b, c = (rng.normal(size=shape) for shape in shapes)
        return bits_of(a, instruction), bits_of(b, instruction), c.astype(np.float32)

    def spread(scale):
        """Return numbers of many magnitudes."""
        a, b, c = (rng.normal(size=s) * 2.0 ** rng.integers(*scale, s) for s in shapes)
        return bits_of(a, instruction), bits_of(b, instruction), c.astype(np.float32)

    def any_bits():
        a, b = (rng.integers(0, 1 << 16, shape).astype(np.uint16) for shape in shapes[:2])
        c = rng.integers(0, 1 << 32, shapes[2]).astype(np.uint32).view(np.float32)
        return a, b, c

    yield "normal numbers", normal()
    yield "many magnitudes", spread((-12, 4))
    a, b, c = normal()
    yield "sums near zero", (a, b, -multiply_add(*map(instruction.values, (a, b)), 0 * c))
    a, b, c = any_bits()
    finite = [np.isfinite(instruction.values(x)) for x in (a, b)]
    few = rng.random(shapes[0]) < 0.2
    c = np.where(np.isfinite(c), c, np.float32(0))
    yield "any finite bits", (a * finite[0], b * finite[1], c)
    yield "few products", (a * finite[0] * few, b * finite[1], c)
    yield "few products, c is 0", (a * finite[0] * few, b * finite[1], 0 * c)
    subnormal = np.uint16(0x807F if instruction.bfloat16 else 0x83FF)
    yield "subnormal inputs", (a & subnormal, b * finite[1], 0 * c)
    yield "subnormal inputs only", (a & subnormal, b & subnormal, 0 * c)
    sign = np.uint16(0x8000)
    # bfloat16 has products that are smaller than all float32.
    a, b, c = spread((-75, -60))
    yield "tiny products, c is 0", (a, b, 0 * c)
    yield "tiny products", (a, b, c * np.float32(2.0**-66))
    yield "signs of zero", (a & sign, b & sign, np.copysign(np.float32(0), c))
    yield "infinity and NaN", any_bits()


@dataclass(frozen=True)
class Comparison:
    """The number of sums of one instruction and kind of input, and of those that differ.

    ``inputs_crc`` and ``sums_crc`` are the CRC-32 of the matrices a, b and c, and of the device's
    sums. ``example`` has the bits of the first sum that differs, and of its inputs.
    """

    instruction: str
    inputs: str
    sums: int
    differing: int
    inputs_crc: int
    sums_crc: int
    example: str = ""


def on_device(instruction: Instruction, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return the sums that this machine's device (or the virtual GPU) computes."""
    k = instruction.k
    held = [
        np.stack([matrix[:, *element_of(LANES, i)] for i in range(size)], axis=2)
        for matrix, element_of, size in (
            (instruction.held(a), element_of_a, k // 2),
            (instruction.held(b), element_of_b, k // 4),
            (c, element_of_c, 4),
        )
    ]
    arrays = [cuda.to_device(x.reshape(-1, x.shape[2])) for x in held]
    instruction.kernel[len(c) // 4, 128](*arrays)
    sums = arrays[2].copy_to_host().reshape(held[2].shape)
    result = np.zeros_like(c)
    for i in range(4):
        result[:, *element_of_c(LANES, i)] = sums[:, :, i]
    return result


def checksum(*arrays: np.ndarray) -> int:
    """Return the CRC-32 of the bytes of arrays, in C order."""
    return zlib.crc32(b"".join(array.tobytes() for array in arrays))


def compare(instruction: Instruction, warps: int = WARPS, run: Callable = on_device) -> list:
    """Return a Comparison for each kind of input of an instruction."""
    rows = []
    for kind, (a, b, c) in inputs(instruction, warps, np.random.default_rng(41)):
        theirs = run(instruction, a, b, c)
        model = multiply_add(instruction.values(a), instruction.values(b), c)
        where = np.argwhere(theirs.view(np.uint32) != model.view(np.uint32))
        example = ""
        if len(where):
            w, row, column = where[0]
            parts = (a[w, row], b[w, :, column], *(
                x[w, row, column].view(np.uint32) for x in (c, theirs, model)
            ))  # fmt: skip
            example = " | ".join(" ".join(f"{int(bits):x}" for bits in np.ravel(p)) for p in parts)
        checksums = checksum(a, b, c), checksum(theirs)
        name = instruction.name
        rows.append(Comparison(name, kind, theirs.size, len(where), *checksums, example))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", type=Path, help="write the rows to this CSV file")
    record = parser.parse_args().record
    if not cuda.is_available():
        install()
    rows = [row for instruction in INSTRUCTIONS for row in compare(instruction)]
    for row in rows:
        print(f"{row.instruction:18} {row.inputs:24} {row.differing:8,} of {row.sums:,} differ")
        if row.example:
            print(row.example)
    if record:
        with record.open("w", newline="") as file:
            fields = [field.name for field in dataclasses.fields(Comparison)][:-1]
            writer = csv.DictWriter(file, fields, extrasaction="ignore", lineterminator="\n")
            writer.writeheader()
            writer.writerows(map(asdict, rows))


if __name__ == "__main__":
    main()
