"""The functions of `tensor` for kernels of numba-cuda-mlir: their types, and their MLIR."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numba_cuda_mlir import types
from numba_cuda_mlir._mlir import ir
from numba_cuda_mlir._mlir.dialects import arith, llvm, memref, vector
from numba_cuda_mlir._mlir.extras import types as mlir_types
from numba_cuda_mlir.extending import refresh_registries
from numba_cuda_mlir.lowering_utilities import convert, llvm_ptr_add_bytes, memref_data_pointer

from utils.intrinsics import tensor
from utils.intrinsics.tensor import ELEMENT_BYTES, PAIR, SUMS, WIDTH, mma_text, names
from utils.intrinsics.wide_memory import GLOBAL_SPACE, SHARED_SPACE, WIDE_BYTES
from utils.intrinsics.wide_memory_mlir import (
    INT64,
    address,
    assembled,
    element_pointer,
    implement,
    is_position,
    of_vector,
)

SIXTEEN_BITS = (types.float16, types.uint16)
WORD_BYTES = 4


def _is_array(array, *dtypes) -> bool:
    """Return True for the type of an array in C order with one of these dtypes."""
    return isinstance(array, types.Array) and array.dtype in dtypes and array.layout == "C"


def _fits(array, position) -> bool:
    """Return True for a 16-bit array in C order and one integer index per dimension."""
    return _is_array(array, *SIXTEEN_BITS) and is_position(array, position)


def _registers(builder, array, count: int) -> list[ir.Value]:
    """Return generic pointers to the first `count` registers of 32 bits of a local array."""
    first = memref_data_pointer(builder.load_var(array))
    return [
        llvm_ptr_add_bytes(first, arith.constant(INT64(), WORD_BYTES * number))
        for number in range(count)
    ]


def _results(text: str, constraints: str, operands: Sequence, element, count: int) -> list:
    """Emit inline PTX and return its `count` results, each of the MLIR type `element`."""
    kinds = llvm.StructType.get_literal([element] * count)
    parts = assembled(text, constraints, operands, kinds)
    return [llvm.extractvalue(element, parts, [number]) for number in range(count)]


def _mma_of(k: int, dtype, name: str) -> tuple[Callable, Callable]:
    """Return (typing function, lowering function) of a product of 16×k by k×8.

    dtype: that of the factors. name: PTX's name of it.
    """
    of_a, of_b = k // 4, k // 8  # registers of a lane
    constraints = ["=f"] * SUMS + ["r"] * (of_a + of_b) + [str(number) for number in range(SUMS)]

    def typed(sums, a, b):
        fits = _is_array(sums, types.float32) and _is_array(a, dtype) and _is_array(b, dtype)
        return types.none if fits else None

    def lowered(builder, target, arguments, keywords):
        sums, a, b = arguments
        pointers = _registers(builder, sums, SUMS)
        fragments = [*_registers(builder, a, of_a), *_registers(builder, b, of_b)]
        word, number = mlir_types.i32(), mlir_types.f32()
        inputs = [llvm.load(word, pointer, alignment=ELEMENT_BYTES) for pointer in fragments]
        inputs += [llvm.load(number, pointer) for pointer in pointers]
        results = _results(mma_text(k, name), ",".join(constraints), inputs, number, SUMS)
        for pointer, result in zip(pointers, results, strict=True):
            llvm.store(result, pointer)
        builder.store_var(target, None)

    return typed, lowered


def _ldmatrix_of(count: int, transposed: bool) -> tuple[Callable, Callable]:
    """Return (typing function, lowering function) of a load of `count` matrices of 8×8 elements.

    If `transposed`, the matrices are transposed.
    """
    kind = f"x{count}.trans" if transposed else f"x{count}"
    text = f"ldmatrix.sync.aligned.m8n8.{kind}.shared.b16 {names(0, count)}, [${count}];"

    def typed(fragment, tile, position):
        return types.none if _fits(tile, position) and _is_array(fragment, tile.dtype) else None

    def lowered(builder, target, arguments, keywords):
        fragment, tile, position = arguments
        word = mlir_types.i32()
        row = address(element_pointer(builder, tile, position), SHARED_SPACE, word)
        words = _results(text, "=r," * count + "r", [row], word, count)
        for pointer, loaded in zip(_registers(builder, fragment, count), words, strict=True):
            llvm.store(loaded, pointer, alignment=ELEMENT_BYTES)
        builder.store_var(target, None)

    return typed, lowered


def _words() -> ir.Type:
    """Return the type of 16 bytes as four words: one instruction loads or stores them."""
    return ir.VectorType.get([WIDE_BYTES // WORD_BYTES], mlir_types.i32())


def _load_of(width: int) -> tuple[Callable, Callable]:
    """Return (typing function, lowering function) of a load of `width` 16-bit elements.

    The result of the load is a tuple.
    """
    size = width * ELEMENT_BYTES

    def typed(array, position):
        return types.UniTuple(array.dtype, width) if _fits(array, position) else None

    def lowered(builder, target, arguments, keywords):
        element = builder.get_mlir_type(builder.get_numba_type(arguments[0].name).dtype)
        pointer = element_pointer(builder, *arguments)
        kind = _words() if size == WIDE_BYTES else mlir_types.i32()
        words = llvm.load(kind, pointer, alignment=size)
        elements = llvm.bitcast(ir.VectorType.get([width], element), words)
        builder.store_var(target, of_vector(elements, width))

    return typed, lowered


def _store8_typed(array, position, parts):
    """Return types.none, because a store has no result, or None for types that do not fit."""
    fits = _fits(array, position) and parts == types.UniTuple(array.dtype, WIDTH)
    return types.none if fits else None


def _store8_lowered(builder, target, arguments, keywords):
    """Emit the store of a tuple of eight elements."""
    array, position, parts = arguments
    element = builder.get_mlir_type(builder.get_numba_type(array.name).dtype)
    kind = ir.VectorType.get([WIDTH], element)
    packed = vector.from_elements(kind, list(builder.load_var(parts)))
    pointer = element_pointer(builder, array, position)
    llvm.store(llvm.bitcast(_words(), packed), pointer, alignment=WIDE_BYTES)
    builder.store_var(target, None)


def _copy_typed(shared, to, source, position):
    """Return types.none, because a copy has no result, or None for types that do not fit."""
    fits = _fits(shared, to) and _fits(source, position) and shared.dtype == source.dtype
    return types.none if fits else None


def _copy_addresses(builder, arguments) -> list[ir.Value]:
    """Return the addresses of a copy: in shared memory, and in global memory."""
    to, origin = (element_pointer(builder, *pair) for pair in (arguments[:2], arguments[2:]))
    return [address(to, SHARED_SPACE, mlir_types.i32()), address(origin, GLOBAL_SPACE, INT64())]


def _copy8_lowered(builder, target, arguments, keywords):
    """Emit the start of a copy of eight elements."""
    text = f"cp.async.cg.shared.global [$0], [$1], {WIDE_BYTES};"
    assembled(text, "r,l", _copy_addresses(builder, arguments))
    builder.store_var(target, None)


def _copy8_or_zeros_lowered(builder, target, arguments, keywords):
    """Emit the start of a copy of eight elements, or of zeros outside of the array."""
    word = mlir_types.i32()
    inside = _inside(builder, *arguments[2:])
    size = arith.select(inside, arith.constant(word, WIDE_BYTES), arith.constant(word, 0))
    text = f"cp.async.cg.shared.global [$0], [$1], {WIDE_BYTES}, $2;"
    assembled(text, "r,l,r", [*_copy_addresses(builder, arguments), size])
    builder.store_var(target, None)


def _inside(builder, array, position) -> ir.Value:
    """Return the MLIR condition, an i1, that a position is inside of an array."""
    memory, indices = builder.load_var(array), builder.load_var(position)
    indices = indices if isinstance(indices, list | tuple) else [indices]
    sizes = memref.extract_strided_metadata(memory)[2 : 2 + len(indices)]
    inside = arith.constant(mlir_types.bool(), 1)
    for index, size in zip(indices, sizes, strict=True):
        below = arith.cmpi(
            arith.CmpIPredicate.ult, convert(index, INT64()), convert(size, INT64())
        )
        inside = arith.andi(inside, below)
    return inside


implement(tensor.mma_m16n8k8, *_mma_of(8, types.float16, "f16"), arguments=3)
implement(tensor.mma_m16n8k16, *_mma_of(16, types.float16, "f16"), arguments=3)
implement(tensor.mma_m16n8k16_bf16, *_mma_of(16, types.uint16, "bf16"), arguments=3)
implement(tensor.ldmatrix_x4, *_ldmatrix_of(4, transposed=False), arguments=3)
implement(tensor.ldmatrix_x2, *_ldmatrix_of(2, transposed=False), arguments=3)
implement(tensor.ldmatrix_x4_trans, *_ldmatrix_of(4, transposed=True), arguments=3)
implement(tensor.ldmatrix_x2_trans, *_ldmatrix_of(2, transposed=True), arguments=3)
implement(tensor.load_pair, *_load_of(PAIR), arguments=2)
implement(tensor.load8, *_load_of(WIDTH), arguments=2)
implement(tensor.store8, _store8_typed, _store8_lowered, arguments=3)
implement(tensor.copy8_async, _copy_typed, _copy8_lowered, arguments=4)
implement(tensor.copy8_or_zeros_async, _copy_typed, _copy8_or_zeros_lowered, arguments=4)
refresh_registries(typing=False)
