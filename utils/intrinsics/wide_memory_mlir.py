"""The functions of `wide_memory` for kernels of numba-cuda-mlir: their types, and their MLIR.

A function gets its result's type from ``type_callable`` and its operations from ``lower_builtin``.
`cuda.vector` of version 0.6.0 is not used, because in a device function it takes an array of
shared memory for one of global memory. Here every element has a generic pointer, from which NVVM
infers the memory, or a pointer into the memory that the instruction needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numba_cuda_mlir import types
from numba_cuda_mlir._mlir import ir
from numba_cuda_mlir._mlir.dialects import arith, llvm, memref, vector
from numba_cuda_mlir._mlir.extras import types as mlir_types
from numba_cuda_mlir.extending import lower_builtin, refresh_registries, type_callable
from numba_cuda_mlir.lowering_utilities import convert, llvm_ptr_add_bytes, memref_data_pointer

from utils.intrinsics import wide_memory
from utils.intrinsics.wide_memory import (
    COPY_WIDTH,
    FLOAT_BYTES,
    GLOBAL_SPACE,
    SHARED_SPACE,
    WIDE_BYTES,
)

INT64 = mlir_types.i64
# The PTX type and the register class of each dtype that stream16 loads.
STREAMED = {
    types.float32: ("f32", "f"),
    types.float64: ("f64", "d"),
    types.int32: ("b32", "r"),
    types.int64: ("b64", "l"),
}


def is_position(array, position) -> bool:
    """Return True if `position` has one integer type per dimension of the array."""
    indices = position.types if isinstance(position, types.BaseTuple) else (position,)
    return len(indices) == array.ndim and all(isinstance(i, types.Integer) for i in indices)


def _fits(array, position) -> bool:
    """Return True for a float32 array in C order and one integer index per dimension."""
    is_array = isinstance(array, types.Array) and array.layout == "C"
    return is_array and array.dtype == types.float32 and is_position(array, position)


def element_pointer(builder, array, position) -> ir.Value:
    """Return the generic LLVM pointer to array[position]; both are variables of the kernel.

    The array must be in C order: its last dimension has no stride to multiply with.
    """
    memory, indices = builder.load_var(array), builder.load_var(position)
    indices = indices if isinstance(indices, list | tuple) else [indices]
    *outer, offset = (convert(index, INT64()) for index in indices)
    strides = memref.extract_strided_metadata(memory)[2 + len(indices) :]
    for index, stride in zip(outer, strides, strict=False):
        offset = arith.addi(offset, arith.muli(index, convert(stride, INT64())))
    size = arith.constant(INT64(), builder.get_numba_type(array.name).dtype.bitwidth // 8)
    return llvm_ptr_add_bytes(memref_data_pointer(memory), arith.muli(offset, size))


def address(pointer: ir.Value, space: int, kind: ir.Type) -> ir.Value:
    """Return the address of a generic pointer in one memory space, as an integer of type `kind`.

    space: the number of the memory space, such as SHARED_SPACE.
    """
    pointer = llvm.addrspacecast(llvm.PointerType.get(space), pointer)
    return llvm.ptrtoint(res=kind, arg=pointer)


def assembled(text: str, constraints: str, operands: Sequence[ir.Value], result=None):
    """Emit inline PTX and return its value, of the MLIR type `result`, or none without a type.

    It may change memory, and is neither moved nor left out. Operands are $0, $1, ... in the text,
    after the registers of the result.
    """
    constraints = ",".join(part for part in (constraints, "~{memory}") if part)
    return llvm.inline_asm(result, list(operands), text, constraints, has_side_effects=True)


def of_vector(value: ir.Value, width: int) -> tuple[ir.Value, ...]:
    """Return the first `width` elements of an MLIR vector of one dimension."""
    return tuple(vector.extract(value, [], [number]) for number in range(width))


def _load_of(width: int) -> tuple[Callable, Callable]:
    """Return (typing function, lowering function) of a load of `width` float32 as a tuple."""

    def typed(array, position):
        return types.UniTuple(types.float32, width) if _fits(array, position) else None

    def lowered(builder, target, arguments, keywords):
        kind = ir.VectorType.get([width], mlir_types.f32())
        pointer = element_pointer(builder, *arguments)
        loaded = llvm.load(kind, pointer, alignment=FLOAT_BYTES * width)
        builder.store_var(target, of_vector(loaded, width))

    return typed, lowered


def _store_of(width: int) -> tuple[Callable, Callable]:
    """Return (typing function, lowering function) of a store of a tuple of `width` float32."""
    expected = types.UniTuple(types.float32, width)

    def typed(array, position, parts):
        return types.none if _fits(array, position) and parts == expected else None

    def lowered(builder, target, arguments, keywords):
        array, position, parts = arguments
        kind = ir.VectorType.get([width], mlir_types.f32())
        packed = vector.from_elements(kind, list(builder.load_var(parts)))
        llvm.store(packed, element_pointer(builder, array, position), alignment=FLOAT_BYTES * width)
        builder.store_var(target, None)

    return typed, lowered


def _stream16_typed(array, position):
    """Return the type of the tuple of 4 or 2 elements that stream16 loads.

    Returns None for an array or a position that does not fit.
    """
    known = isinstance(array, types.Array) and array.dtype in STREAMED and array.layout == "C"
    if not (known and is_position(array, position)):
        return None
    return types.UniTuple(array.dtype, WIDE_BYTES * 8 // array.dtype.bitwidth)


def _stream16_lowered(builder, target, arguments, keywords):
    """Emit the load of 16 bytes of global memory that are read once."""
    dtype = builder.get_numba_type(arguments[0].name).dtype
    width, (suffix, register) = WIDE_BYTES * 8 // dtype.bitwidth, STREAMED[dtype]
    names = ", ".join(f"${number}" for number in range(width))
    text = f"ld.global.nc.L1::no_allocate.v{width}.{suffix} {{{names}}}, [${width}];"
    where = address(element_pointer(builder, *arguments), GLOBAL_SPACE, INT64())
    element = builder.get_mlir_type(dtype)
    kinds = llvm.StructType.get_literal([element] * width)
    parts = assembled(text, f"={register}," * width + "l", [where], kinds)
    parts = tuple(llvm.extractvalue(element, parts, [number]) for number in range(width))
    builder.store_var(target, parts)


def _before_boundary_typed(array):
    """Return int64 for an array of one dimension with a dtype of `STREAMED`; None for others."""
    known = isinstance(array, types.Array) and array.ndim == 1 and array.dtype in STREAMED
    return types.int64 if known else None


def _before_boundary_lowered(builder, target, arguments, keywords):
    """Emit the number of elements of an array before its first 16-byte boundary."""
    (array,) = arguments
    size = builder.get_numba_type(array.name).dtype.bitwidth // 8
    pointer = memref_data_pointer(builder.load_var(array))
    begin = llvm.ptrtoint(res=INT64(), arg=pointer)
    zero, mask, divisor = (arith.constant(INT64(), one) for one in (0, WIDE_BYTES - 1, size))
    missing = arith.andi(arith.subi(zero, begin), mask)
    builder.store_var(target, arith.divui(missing, divisor))


def _copy_of(width: int) -> tuple[Callable, Callable]:
    """Return (typing function, lowering function) of the start of a copy of `width` float32."""
    # 16 bytes may bypass the L1 cache ("cg"); fewer may not.
    cache = "cg" if width == COPY_WIDTH else "ca"
    text = f"cp.async.{cache}.shared.global [$0], [$1], {width * FLOAT_BYTES};"

    def typed(shared, to, source, position):
        return types.none if _fits(shared, to) and _fits(source, position) else None

    def lowered(builder, target, arguments, keywords):
        to, origin = (element_pointer(builder, *pair) for pair in (arguments[:2], arguments[2:]))
        addresses = [
            address(to, SHARED_SPACE, mlir_types.i32()),
            address(origin, GLOBAL_SPACE, INT64()),
        ]
        assembled(text, "r,l", addresses)
        builder.store_var(target, None)

    return typed, lowered


def _commit_typed():
    """Return types.none, because `commit_copies` has no result."""
    return types.none


def _commit_lowered(builder, target, arguments, keywords):
    """Emit the end of a group of copies."""
    assembled("cp.async.commit_group;", "", [])
    builder.store_var(target, None)


def _wait_typed(pending):
    """Return types.none, the result's type, if ``pending`` is a constant, else None."""
    return types.none if isinstance(pending, types.IntegerLiteral) else None


def _wait_lowered(builder, target, arguments, keywords):
    """Emit the wait until at most ``pending`` groups are in flight."""
    pending = builder.get_numba_type(arguments[0].name).literal_value
    assembled(f"cp.async.wait_group {pending};", "", [])
    builder.store_var(target, None)


def implement(function: Callable, typed: Callable, lowered: Callable, arguments: int) -> None:
    """Let kernels call ``function``, which takes this number of arguments.

    ``typed`` takes the types of the arguments and returns that of the result, or None for types
    that do not fit. ``lowered`` takes the builder, the result's variable, those of the arguments
    and the keywords, and emits the operations.
    """
    type_callable(function)(lambda context: typed)
    lower_builtin(function, *[types.Any] * arguments)(lowered)


implement(wide_memory.load2, *_load_of(2), arguments=2)
implement(wide_memory.load4, *_load_of(4), arguments=2)
implement(wide_memory.store2, *_store_of(2), arguments=3)
implement(wide_memory.store4, *_store_of(4), arguments=3)
implement(wide_memory.stream16, _stream16_typed, _stream16_lowered, arguments=2)
implement(wide_memory.before_boundary, _before_boundary_typed, _before_boundary_lowered, 1)
implement(wide_memory.copy1_async, *_copy_of(1), arguments=4)
implement(wide_memory.copy4_async, *_copy_of(COPY_WIDTH), arguments=4)
implement(wide_memory.commit_copies, _commit_typed, _commit_lowered, arguments=0)
implement(wide_memory.wait_copies, _wait_typed, _wait_lowered, arguments=1)
refresh_registries(typing=False)
