"""Tensor-core products by one warp, the loads of their fragments, and copies of 16-bit elements.

A tensor core multiplies small matrices that are spread over the registers of a warp: a *fragment*
is what one lane holds of such a matrix, a local array. All 32 lanes of a warp must call ``mma`` and
``ldmatrix`` functions together, each with its own fragments.

Matrices to multiply have elements of 16 bits. float16 is a dtype of Numba and NumPy. bfloat16 is
not one of NumPy, so its arrays have the dtype uint16, and the name of the product says how to read
them. The sums are float32.

A position is an index, or a tuple of indices, as in ``x[position]``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

import virtual_gpu
from utils.intrinsics.wide_memory import (
    GLOBAL_SPACE,
    SHARED_SPACE,
    WIDE_BYTES,
    assemble,
    element_pointer,
    indices_of,
    intrinsic,
    is_position,
    named,
)

ELEMENT_BYTES = 2
WIDTH = WIDE_BYTES // ELEMENT_BYTES  # 16-bit elements of a row of ldmatrix, and of a wide access
PAIR = 2  # 16-bit elements of a register
SUMS = 4  # float32 that a lane holds of the 16×8 sums
WORD, FLOAT = ir.IntType(32), ir.FloatType()
_WORDS = ir.VectorType(WORD, WIDE_BYTES // 4)
_SIXTEEN_BITS = (types.float16, types.uint16)


def _is_array(array, *dtypes) -> bool:
    """Return True for Numba's type of an array in C order with one of these dtypes."""
    return isinstance(array, types.Array) and array.dtype in dtypes and array.layout == "C"


def _fits(array, position) -> bool:
    """Return True for a 16-bit array in C order and one integer index per dimension."""
    return _is_array(array, *_SIXTEEN_BITS) and is_position(array, position)


def _registers(context, builder, array_type, array, count: int) -> list:
    """Return LLVM pointers to the first `count` registers of 32 bits of a local array.

    A register is one float32, or two adjacent elements of 16 bits.
    """
    element = FLOAT if array_type.dtype == types.float32 else WORD
    data = context.make_array(array_type)(context, builder, array).data
    first = builder.bitcast(data, element.as_pointer())
    return [builder.gep(first, [WORD(number)]) for number in range(count)]


def _load_registers(builder, pointers: list) -> list:
    """Return the values of a fragment's registers; its array need not be aligned to 32 bits."""
    return [builder.load(pointer, align=ELEMENT_BYTES) for pointer in pointers]


def _assembled(builder, text: str, constraints: str, operands: list, element, count: int) -> list:
    """Emit inline PTX and return its `count` results, each of the LLVM type `element`.

    It is an instruction of whole warps, so the compiler may not move it into a branch.
    """
    results = ir.LiteralStructType([element] * count)
    kind = ir.FunctionType(results, [operand.type for operand in operands])
    assembly = ir.InlineAsm(kind, text, constraints, side_effect=True)
    values = builder.call(assembly, operands, attrs=("convergent",))
    return [builder.extract_value(values, number) for number in range(count)]


def names(first: int, count: int) -> str:
    """Return operands of inline PTX in braces: "{$4,$5}" for first = 4 and count = 2."""
    return "{" + ",".join(f"${first + number}" for number in range(count)) + "}"


def mma_text(k: int, name: str) -> str:
    """Return the PTX of an mma that adds a product of 16×k by k×8 to sums.

    Its operands are the registers $0 to $3 for the sums, then k / 4 for a, then k / 8 for b. `name`
    is PTX's name of the dtype, such as "f16".
    """
    operands = f"{names(SUMS, k // 4)}, {names(SUMS + k // 4, k // 8)}"
    return (
        f"mma.sync.aligned.m16n8k{k}.row.col.f32.{name}.{name}.f32 "
        f"{names(0, SUMS)}, {operands}, {names(0, SUMS)};"
    )


def _mma_of(k: int, dtype, name: str):
    """Return the typing function of an intrinsic that multiplies 16×k by k×8 of a dtype.

    It returns (signature, code generator), or None for types that do not fit. `name` is PTX's name
    of the dtype.
    """
    of_a, of_b = k // 4, k // 8  # registers of a lane
    text = mma_text(k, name)
    constraints = ["=f"] * SUMS + ["r"] * (of_a + of_b) + [str(number) for number in range(SUMS)]

    def mma(typing_context, sums, a, b):
        if not (_is_array(sums, types.float32) and _is_array(a, dtype) and _is_array(b, dtype)):
            return None

        def generate(context, builder, signature, values):
            pointers, from_a, from_b = (
                _registers(context, builder, array_type, array, count)
                for array_type, array, count in zip(
                    signature.args, values, (SUMS, of_a, of_b), strict=True
                )
            )
            inputs = _load_registers(builder, from_a + from_b + pointers)
            results = _assembled(builder, text, ",".join(constraints), inputs, FLOAT, SUMS)
            for pointer, result in zip(pointers, results, strict=True):
                builder.store(result, pointer)
            return context.get_dummy_value()

        return types.void(sums, a, b), generate

    return mma


mma_m16n8k8 = named(
    "mma_m16n8k8",
    _mma_of(8, types.float16, "f16"),
    """Add the product of a 16×8 matrix a and an 8×8 matrix b to ``sums``; one warp computes it.

    Per lane, ``sums`` has four float32, ``a`` four float16 and ``b`` two. Needs compute capability
    7.5.
    """,
)
mma_m16n8k16 = named(
    "mma_m16n8k16",
    _mma_of(16, types.float16, "f16"),
    """Add the product of a 16×16 matrix a and a 16×8 matrix b to ``sums``; one warp computes it.

    Per lane, ``sums`` has four float32, ``a`` eight float16 and ``b`` four. Needs compute
    capability 8.0.
    """,
)
mma_m16n8k16_bf16 = named(
    "mma_m16n8k16_bf16",
    _mma_of(16, types.uint16, "bf16"),
    """The product of ``mma_m16n8k16`` for the bits of bfloat16, of which a and b are uint16.

    Needs compute capability 8.0.
    """,
)


def _ldmatrix_of(count: int, transposed: bool):
    """Return the typing function of an intrinsic that loads `count` matrices of 8×8 elements.

    It returns (signature, code generator), or None for types that do not fit. If `transposed`, the
    intrinsic transposes the matrices.
    """
    kind = f"x{count}.trans" if transposed else f"x{count}"
    text = f"ldmatrix.sync.aligned.m8n8.{kind}.shared.b16 {names(0, count)}, [${count}];"
    constraints = "=r," * count + "r,~{memory}"

    def ldmatrix(typing_context, fragment, tile, position):
        if not (_fits(tile, position) and _is_array(fragment, tile.dtype)):
            return None

        def generate(context, builder, signature, values):
            address = _address(context, builder, signature.args[1:], values[1:], SHARED_SPACE)
            words = _assembled(builder, text, constraints, [address], WORD, count)
            pointers = _registers(context, builder, signature.args[0], values[0], count)
            for pointer, word in zip(pointers, words, strict=True):
                builder.store(word, pointer, align=ELEMENT_BYTES)
            return context.get_dummy_value()

        return types.void(fragment, tile, position), generate

    return ldmatrix


def _address(context, builder, array_and_position, values, space: int):
    """Return the address of array[position] in a kind of memory: 32 bits of shared, 64 of global.

    array_and_position: the Numba types of both. values: the LLVM values of both.
    """
    pointer = element_pointer(context, builder, array_and_position, values)
    pointer = builder.addrspacecast(pointer, ir.PointerType(pointer.type.pointee, addrspace=space))
    return builder.ptrtoint(pointer, ir.IntType(32 if space == SHARED_SPACE else 64))


ldmatrix_x4 = named(
    "ldmatrix_x4",
    _ldmatrix_of(4, transposed=False),
    """Load four 8×8 matrices of 16-bit elements from shared memory into the fragments of a warp.

    ``tile[position]`` is the first of eight adjacent elements, aligned to 16 bytes: lane l gives
    row l % 8 of matrix l // 8. Lane l receives the elements in row l // 4 and columns 2·(l % 4) and
    2·(l % 4) + 1 of each matrix; those of matrix q become elements 2q and 2q + 1 of ``fragment``,
    which has eight. Needs compute capability 7.5.
    """,
)
ldmatrix_x2 = named(
    "ldmatrix_x2",
    _ldmatrix_of(2, transposed=False),
    """Load two 8×8 matrices as ``ldmatrix_x4`` loads four; ``fragment`` has four elements.

    Lanes 0 to 15 give the rows, and the positions of all other lanes are not used.
    """,
)
ldmatrix_x4_trans = named(
    "ldmatrix_x4_trans",
    _ldmatrix_of(4, transposed=True),
    """Load four 8×8 matrices as ``ldmatrix_x4`` does, each transposed.

    Lane l receives the elements in rows 2·(l % 4) and 2·(l % 4) + 1 and column l // 4 of a matrix.
    """,
)
ldmatrix_x2_trans = named(
    "ldmatrix_x2_trans",
    _ldmatrix_of(2, transposed=True),
    """Load two 8×8 matrices as ``ldmatrix_x2`` does, each transposed.""",
)


def _load_of(width: int):
    """Return the typing function of an intrinsic that loads `width` 16-bit elements as a tuple.

    It returns (signature, code generator), or None for types that do not fit.
    """
    size = width * ELEMENT_BYTES
    # Loaded as words and not as elements, because that is one instruction for sure.
    kind = _WORDS if size == WIDE_BYTES else WORD

    def load(typing_context, array, position):
        if not _fits(array, position):
            return None

        def generate(context, builder, signature, values):
            pointer = element_pointer(context, builder, signature.args, values)
            words = builder.load(builder.bitcast(pointer, kind.as_pointer()), align=size)
            vector = builder.bitcast(words, _elements(context, array.dtype, width))
            parts = [builder.extract_element(vector, WORD(number)) for number in range(width)]
            return context.make_tuple(builder, signature.return_type, parts)

        return types.UniTuple(array.dtype, width)(array, position), generate

    return load


def _store8(typing_context, array, position, parts):
    """Return (signature, code generator) of a store of a tuple of eight 16-bit elements.

    Returns None if the array, the position or the tuple does not fit.
    """
    if not _fits(array, position) or parts != types.UniTuple(array.dtype, WIDTH):
        return None

    def generate(context, builder, signature, values):
        pointer = element_pointer(context, builder, signature.args[:2], values[:2])
        vector = ir.Constant(_elements(context, array.dtype), ir.Undefined)
        for number, part in enumerate(cgutils.unpack_tuple(builder, values[2])):
            vector = builder.insert_element(vector, part, WORD(number))
        words = builder.bitcast(vector, _WORDS)
        builder.store(words, builder.bitcast(pointer, _WORDS.as_pointer()), align=WIDE_BYTES)
        return context.get_dummy_value()

    return types.void(array, position, parts), generate


def _elements(context, dtype, count: int = WIDTH) -> ir.VectorType:
    """Return the LLVM type of a vector of `count` elements of a dtype of 16 bits."""
    return ir.VectorType(context.get_value_type(dtype), count)


load_pair = named(
    "load_pair",
    _load_of(PAIR),
    """Load two 16-bit elements from ``array[position]`` as a tuple.

    The first is aligned to four bytes.
    """,
)
load8 = named(
    "load8", _load_of(WIDTH), "Load eight 16-bit elements from ``array[position]`` as a tuple."
)
store8 = named(
    "store8", _store8, "Store a tuple of eight 16-bit elements at ``array[position]``."
)


@intrinsic
def copy8_async(typing_context, shared, to, source, position):
    """Start a copy of eight 16-bit elements from ``source[position]`` on to ``shared[to]`` on.

    They go from global to shared memory, past the registers. The call is copy8_async(shared, to,
    source, position). The copy is complete after commit_copies() and wait_copies(). Other threads
    may read the result only after a barrier. Needs compute capability 8.0.
    """
    if not (_fits(shared, to) and _fits(source, position) and shared.dtype == source.dtype):
        return None

    def generate(context, builder, signature, values):
        addresses = [
            _address(context, builder, signature.args[:2], values[:2], SHARED_SPACE),
            _address(context, builder, signature.args[2:], values[2:], GLOBAL_SPACE),
        ]
        assemble(builder, f"cp.async.cg.shared.global [$0], [$1], {WIDE_BYTES};", "r,l", addresses)
        return context.get_dummy_value()

    return types.void(shared, to, source, position), generate


@intrinsic
def copy8_or_zeros_async(typing_context, shared, to, source, position):
    """Start a copy as ``copy8_async`` does, or store eight zeros if ``position`` is outside.

    ``source`` has rows of a multiple of eight elements, so the elements are all inside or all
    outside of it. Indices are not negative. The zeros are complete when a copy would be.
    """
    if not (_fits(shared, to) and _fits(source, position) and shared.dtype == source.dtype):
        return None

    def generate(context, builder, signature, values):
        addresses = [
            _address(context, builder, signature.args[:2], values[:2], SHARED_SPACE),
            _address(context, builder, signature.args[2:], values[2:], GLOBAL_SPACE),
        ]
        inside = _inside(context, builder, signature.args[2:], values[2:])
        size = builder.select(inside, WORD(WIDE_BYTES), WORD(0))
        text = f"cp.async.cg.shared.global [$0], [$1], {WIDE_BYTES}, $2;"
        assemble(builder, text, "r,l,r", [*addresses, size])
        return context.get_dummy_value()

    return types.void(shared, to, source, position), generate


def _inside(context, builder, array_and_position, values):
    """Return the LLVM condition that a position is inside of an array.

    array_and_position: the Numba types of both. values: the LLVM values of both.
    """
    array_type, position_type = array_and_position
    shape = context.make_array(array_type)(context, builder, values[0]).shape
    indices = indices_of(context, builder, position_type, values[1])
    inside = cgutils.true_bit
    for index, size in zip(indices, cgutils.unpack_tuple(builder, shape), strict=True):
        inside = builder.and_(inside, builder.icmp_unsigned("<", index, size))
    return inside


def _copy_of_zeros(machine: virtual_gpu.Machine, shared, to, source, position) -> None:
    """Run `copy8_or_zeros_async` on the virtual GPU: start the copy of each active lane.

    The copy moves eight elements, or eight zeros in lanes whose position is outside of `source`.
    """
    indices = position if isinstance(position, tuple) else (position,)
    inside = np.ones(machine.mask.lanes.size, bool)
    for index, size in zip(indices, source.shape, strict=True):
        inside &= (index >= 0) & (index < size)
    lanes = machine.mask.narrow(inside)
    values = (source.dtype.type(0),) * WIDTH
    if lanes:
        values = replace(machine, mask=lanes).load(source, position, WIDTH)
    machine.copy_later(shared, to, values)


virtual_gpu.register(
    load_pair, lambda machine, array, at: machine.load(array, at, PAIR), reads=(0,)
)
virtual_gpu.register(load8, lambda machine, array, at: machine.load(array, at, WIDTH), reads=(0,))
virtual_gpu.register(store8, virtual_gpu.Machine.store)
virtual_gpu.register(
    copy8_async,
    lambda machine, shared, to, source, at: machine.copy_later(
        shared, to, machine.load(source, at, WIDTH)
    ),
    reads=(2,),
)
virtual_gpu.register(copy8_or_zeros_async, _copy_of_zeros, reads=(2,))
virtual_gpu.register(mma_m16n8k8, lambda machine, sums, a, b: machine.mma(sums, a, b, 8))
virtual_gpu.register(mma_m16n8k16, lambda machine, sums, a, b: machine.mma(sums, a, b, 16))
virtual_gpu.register(
    mma_m16n8k16_bf16, lambda machine, sums, a, b: machine.mma(sums, a, b, 16, bfloat16=True)
)


def _load_matrices(count: int, transposed: bool):
    """Return a function that runs an ldmatrix of `count` matrices on the virtual GPU.

    If `transposed`, the matrices are transposed.
    """

    def run(machine: virtual_gpu.Machine, fragment, tile, position) -> None:
        machine.load_matrices(fragment, tile, position, count, transposed)

    return run


virtual_gpu.register(ldmatrix_x4, _load_matrices(4, transposed=False))
virtual_gpu.register(ldmatrix_x2, _load_matrices(2, transposed=False))
virtual_gpu.register(ldmatrix_x4_trans, _load_matrices(4, transposed=True))
virtual_gpu.register(ldmatrix_x2_trans, _load_matrices(2, transposed=True))
