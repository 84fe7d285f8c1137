"""Vectors of 8 and 16 float32 inside @njit; each function is one machine instruction.

A `float32x8` or `float32x16` is a Numba type whose values are LLVM vectors, so they are kept in
vector registers (ymm and zmm on x86) as an int is kept in a general one. Each function below is an
intrinsic, and its docstring names the instruction that an x86 compiler makes of it; on other
processors LLVM splits the vectors to the width of the hardware.

The virtual GPU runs and counts the functions that need no pointer and no mask: there, a vector is a
tuple of its lanes, in one thread.

`x` is a contiguous array of float32 with one dimension, `i` the index of the first element; indices
are not checked. `lanes` is the constant 8 or 16. Functions with a parameter `vectors` work on a
row: a tuple of that many vectors that are adjacent in memory.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

import virtual_gpu

FLOAT, INT = ir.FloatType(), ir.IntType(32)
LANES = (8, 16)


class Vector(types.Type):
    """The Numba type of a vector of float32.

    `lanes` is their number.
    """

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        super().__init__(name=f"float32x{lanes}")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    """Numba's data model of a Vector: the LLVM vector of its lanes."""

    def __init__(self, manager, vector: Vector) -> None:
        super().__init__(manager, vector, ir.VectorType(FLOAT, vector.lanes))


float32x8, float32x16 = map(Vector, LANES)


POINTER = types.CPointer(types.float32)


def _is_array(x) -> bool:
    """Return True for Numba's type of a contiguous float32 array of one dimension."""
    return isinstance(x, types.Array) and (x.dtype, x.layout, x.ndim) == (types.float32, "C", 1)


def _is_vector_memory(x) -> bool:
    """Return True for a Numba type that a vector can be loaded from: pointer or float32 array."""
    return x == POINTER or _is_array(x)


def _lanes(literal) -> int | None:
    """Return the value of a literal type if it is 8 or 16, else None."""
    value = getattr(literal, "literal_value", None)
    return value if value in LANES else None


def _pointer(context, builder, signature, values, element=FLOAT):
    """Return an LLVM pointer to element i of an array x, cast to the type `element` *.

    x and i are the first two arguments of an intrinsic; `values` has their LLVM values, `signature`
    their types.
    """
    (array, index), (array_type, index_type) = values[:2], signature.args[:2]
    if array_type != POINTER:
        array = context.make_array(array_type)(context, builder, array).data
    index = context.cast(builder, index, index_type, types.intp)
    return builder.bitcast(builder.gep(array, [index]), element.as_pointer())


def _call(builder, name: str, result, arguments: list):
    """Emit a call of the LLVM function `name` and return its result, of the LLVM type `result`."""
    kind = ir.FunctionType(result, [argument.type for argument in arguments])
    # llvmlite's declare_intrinsic does not know vectors.
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)


def _splat(builder, scalar, lanes: int):
    """Return an LLVM vector with a scalar in each of its `lanes` lanes."""
    kind = ir.VectorType(scalar.type, lanes)
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, scalar, INT(0))
    zeros = ir.Constant(ir.VectorType(INT, lanes), [0] * lanes)
    return builder.shuffle_vector(first, undefined, zeros)


def _mask(context, builder, count, count_type, lanes: int):
    """Return an LLVM vector of `lanes` × i1 that is true in lanes whose number is below `count`."""
    count = context.cast(builder, count, count_type, types.int32)
    numbers = ir.Constant(ir.VectorType(INT, lanes), list(range(lanes)))
    return builder.icmp_signed("<", numbers, _splat(builder, count, lanes))


def _masked_load(builder, pointer, mask, lanes: int):
    """Return an LLVM vector loaded from a pointer; lanes outside of the mask are 0."""
    kind = ir.VectorType(FLOAT, lanes)
    zero = ir.Constant(kind, [0.0] * lanes)
    return _call(builder, f"llvm.masked.load.v{lanes}f32.p0", kind, [pointer, INT(4), mask, zero])


def _masked_store(builder, vector, pointer, mask) -> None:
    """Emit a store of the lanes that the mask selects."""
    name = f"llvm.masked.store.v{vector.type.count}f32.p0"
    _call(builder, name, ir.VoidType(), [vector, pointer, INT(4), mask])


def _fma(builder, a, b, c):
    """Return the LLVM vector a·b + c of float32 vectors, rounded once if the processor has FMA."""
    # Not llvm.fma, which calls a function for every lane if the processor has no such instruction.
    return _call(builder, f"llvm.fmuladd.v{a.type.count}f32", a.type, [a, b, c])


@intrinsic
def pointer(typing_context, x, i):
    """Return the pointer to x[i], a float32 *: pointer(x, i).

    Inner functions of a kernel take it instead of the array. Numba counts the references to an
    array in every function that takes it, which costs two calls and, around them, all vector
    registers. A pointer is a number; the caller keeps the array alive.
    """
    if not (_is_vector_memory(x) and isinstance(i, types.Integer)):
        return None
    return POINTER(x, i), _pointer


@intrinsic
def at_address(typing_context, address):
    """Return the pointer to the float32 at an address, which is an integer: at_address(address)."""
    if not isinstance(address, types.Integer):
        return None

    def generate(context, builder, signature, values):
        return builder.inttoptr(values[0], FLOAT.as_pointer())

    return POINTER(address), generate


@intrinsic
def address_of(typing_context, x):
    """Return a pointer's address as an int64, which `at_address` accepts: address_of(x)."""
    if x != POINTER:
        return None

    def generate(context, builder, signature, values):
        return builder.ptrtoint(values[0], ir.IntType(64))

    return types.int64(x), generate


@intrinsic
def loadu(typing_context, x, i, lanes):
    """Load x[i : i + lanes] into a vector: loadu(x, i, lanes), vmovups."""
    if not (_is_vector_memory(x) and isinstance(i, types.Integer) and _lanes(lanes)):
        return None
    result = Vector(_lanes(lanes))

    def generate(context, builder, signature, values):
        kind = context.get_value_type(result)
        return builder.load(_pointer(context, builder, signature, values, kind), align=4)

    return result(x, i, lanes), generate


@intrinsic
def loadu_masked(typing_context, x, i, lanes, count):
    """Load x[i : i + count], padded with zeros, into a vector: loadu_masked(x, i, lanes, count).

    Memory after the first `count` elements is not accessed. The instruction is vmovups {k}{z}, or
    vmaskmovps.
    """
    if not (_is_vector_memory(x) and isinstance(i, types.Integer) and _lanes(lanes)):
        return None
    result = Vector(_lanes(lanes))

    def generate(context, builder, signature, values):
        kind = context.get_value_type(result)
        pointer = _pointer(context, builder, signature, values, kind)
        mask = _mask(context, builder, values[3], signature.args[3], result.lanes)
        return _masked_load(builder, pointer, mask, result.lanes)

    return result(x, i, lanes, count), generate


@intrinsic
def broadcast(typing_context, x, i, lanes):
    """Load x[i] into every lane of a vector: broadcast(x, i, lanes), vbroadcastss from memory."""
    if not (_is_vector_memory(x) and isinstance(i, types.Integer) and _lanes(lanes)):
        return None
    result = Vector(_lanes(lanes))

    def generate(context, builder, signature, values):
        scalar = builder.load(_pointer(context, builder, signature, values), align=4)
        return _splat(builder, scalar, result.lanes)

    return result(x, i, lanes), generate


@intrinsic
def set1(typing_context, value, lanes):
    """Return a vector with a float32 in every lane: set1(value, lanes), vbroadcastss.

    For 0 the instruction is vxorps.
    """
    if not (value == types.float32 and _lanes(lanes)):
        return None
    result = Vector(_lanes(lanes))

    def generate(context, builder, signature, values):
        return _splat(builder, values[0], result.lanes)

    return result(value, lanes), generate


def _same_vectors(*operands) -> bool:
    """Return True if all operands are one vector type."""
    return isinstance(operands[0], Vector) and len(set(operands)) == 1


@intrinsic
def fmadd(typing_context, a, b, c):
    """Return the vector a·b + c, rounded once if the processor has FMA: fmadd(a, b, c).

    vfmadd231ps, vfmadd213ps or vfmadd132ps, depending on which operand is overwritten.
    """
    if not _same_vectors(a, b, c):
        return None

    return a(a, b, c), lambda context, builder, signature, values: _fma(builder, *values)


@intrinsic
def mul(typing_context, a, b):
    """Return the vector a·b: mul(a, b), vmulps."""
    if not _same_vectors(a, b):
        return None
    return a(a, b), lambda context, builder, signature, values: builder.fmul(*values)


@intrinsic
def storeu(typing_context, x, i, vector):
    """Store a vector in x[i : i + lanes]: storeu(x, i, vector), vmovups."""
    if not (_is_vector_memory(x) and isinstance(i, types.Integer) and isinstance(vector, Vector)):
        return None

    def generate(context, builder, signature, values):
        pointer = _pointer(context, builder, signature, values, values[2].type)
        builder.store(values[2], pointer, align=4)
        return context.get_dummy_value()

    return types.void(x, i, vector), generate


@intrinsic
def storeu_masked(typing_context, x, i, vector, count):
    """Store the first `count` lanes of a vector in x[i : i + count].

    The call is storeu_masked(x, i, vector, count). Memory after these elements is not accessed. The
    instruction is vmovups {k}, or vmaskmovps.
    """
    if not (_is_vector_memory(x) and isinstance(i, types.Integer) and isinstance(vector, Vector)):
        return None

    def generate(context, builder, signature, values):
        pointer = _pointer(context, builder, signature, values, values[2].type)
        mask = _mask(context, builder, values[3], signature.args[3], vector.lanes)
        _masked_store(builder, values[2], pointer, mask)
        return context.get_dummy_value()

    return types.void(x, i, vector, count), generate


def _prefetch_of(locality: int, doc: str, name: str):
    """Return an intrinsic (x, i) with this docstring and name that prefetches the line of x[i].

    `locality` is 3 for all levels of cache, 2 for L2 and below.
    """

    def prefetch(typing_context, x, i):
        if not (_is_vector_memory(x) and isinstance(i, types.Integer)):
            return None

        def generate(context, builder, signature, values):
            pointer = _pointer(context, builder, signature, values, ir.IntType(8))
            # The other arguments: 0 for reading, 1 for data.
            operands = [pointer, INT(0), INT(locality), INT(1)]
            _call(builder, "llvm.prefetch.p0", ir.VoidType(), operands)
            return context.get_dummy_value()

        return types.void(x, i), generate

    prefetch.__name__ = prefetch.__qualname__ = name
    prefetch.__doc__ = doc
    return intrinsic(prefetch)


prefetch = _prefetch_of(
    3,
    "Prefetch the cache line of x[i], which may be outside of x: prefetch(x, i), prefetcht0.",
    "prefetch",
)
prefetch_l2 = _prefetch_of(
    2,
    "Prefetch the line of x[i] into the L2 cache, but not L1: prefetch_l2(x, i), prefetcht1.",
    "prefetch_l2",
)


def _shuffle_of(indices_of, doc: str, name: str):
    """Return an intrinsic (a, b) -> vector, with this docstring and name, that picks lanes of both.

    `indices_of(lanes)` returns the list of lanes to pick; b's lanes are numbered after a's.
    """

    def pick(typing_context, a, b):
        if not _same_vectors(a, b):
            return None
        kind = ir.VectorType(INT, a.lanes)
        indices = ir.Constant(kind, indices_of(a.lanes))

        def generate(context, builder, signature, values):
            return builder.shuffle_vector(*values, indices)

        return a(a, b), generate

    pick.__name__ = pick.__qualname__ = name
    pick.__doc__ = doc
    return intrinsic(pick)


def _within_blocks(pattern: tuple[int, int, int, int]):
    """Return a function: number of lanes -> indices of the lanes that a shuffle of a and b picks.

    The pattern is applied to every block of four lanes. In the pattern, 0 to 3 are the block's
    lanes of a and 4 to 7 those of b. In the list, b's lanes are numbered after all of a's.
    """
    return lambda lanes: [
        block + lane % 4 + lanes * (lane // 4) for block in range(0, lanes, 4) for lane in pattern
    ]


unpacklo = _shuffle_of(
    _within_blocks((0, 4, 1, 5)),
    "Return a0 b0 a1 b1 of every block of four lanes: unpacklo(a, b), vunpcklps.",
    "unpacklo",
)
unpackhi = _shuffle_of(
    _within_blocks((2, 6, 3, 7)),
    "Return a2 b2 a3 b3 of every block of four lanes: unpackhi(a, b), vunpckhps.",
    "unpackhi",
)
shuffle_lower = _shuffle_of(
    _within_blocks((0, 1, 4, 5)),
    "Return a0 a1 b0 b1 of every block of four lanes: shuffle_lower(a, b), vshufps 0x44.",
    "shuffle_lower",
)
shuffle_upper = _shuffle_of(
    _within_blocks((2, 3, 6, 7)),
    "Return a2 a3 b2 b3 of every block of four lanes: shuffle_upper(a, b), vshufps 0xEE.",
    "shuffle_upper",
)
join_lower = _shuffle_of(
    lambda lanes: [*range(lanes // 2), *range(lanes, lanes + lanes // 2)],
    "Return the lower halves of a and b: join_lower(a, b), vinsertf128 or vinsertf64x4.",
    "join_lower",
)
join_upper = _shuffle_of(
    lambda lanes: [*range(lanes // 2, lanes), *range(lanes + lanes // 2, 2 * lanes)],
    "Return the upper halves of a and b: join_upper(a, b), vperm2f128 or vshuff64x2.",
    "join_upper",
)


def _is_row(row) -> bool:
    """Return True for Numba's type of a row: a tuple of equal vectors."""
    return isinstance(row, types.UniTuple) and isinstance(row.dtype, Vector)


def _row_of(lanes, vectors) -> types.UniTuple | None:
    """Return the type of a row of `vectors` vectors; None unless `lanes` is 8 or 16."""
    return types.UniTuple(Vector(_lanes(lanes)), vectors.literal_value) if _lanes(lanes) else None


def _addresses(context, builder, signature, values, row):
    """Return a list of LLVM pointers to the vectors of a row that begins at x[i]."""
    first = _pointer(context, builder, signature, values, context.get_value_type(row.dtype))
    return [builder.gep(first, [INT(number)]) for number in range(row.count)]


def _masks(context, builder, count, count_type, row):
    """Return a list of LLVM masks, one per vector of a row.

    The masks select the first `count` lanes of the row.
    """
    count = context.cast(builder, count, count_type, types.intp)
    starts = range(0, row.count * row.dtype.lanes, row.dtype.lanes)
    rest = [builder.sub(count, ir.Constant(count.type, start)) for start in starts]
    return [_mask(context, builder, left, types.intp, row.dtype.lanes) for left in rest]


@intrinsic
def zero_row(typing_context, lanes, vectors):
    """Return a tuple of `vectors` vectors with `lanes` zeros each: zero_row(lanes, vectors).

    It takes one vxorps per vector.
    """
    row = _row_of(lanes, vectors)
    if row is None:
        return None
    return row(lanes, vectors), lambda context, builder, signature, values: ir.Constant(
        context.get_value_type(row), None
    )


@intrinsic
def load_row(typing_context, x, i, lanes, vectors):
    """Return x[i : i + lanes * vectors] as a row, a tuple of `vectors` vectors of `lanes` floats.

    The call is load_row(x, i, lanes, vectors). It takes one vmovups per vector.
    """
    row = _row_of(lanes, vectors)
    if row is None or not (_is_vector_memory(x) and isinstance(i, types.Integer)):
        return None

    def generate(context, builder, signature, values):
        addresses = _addresses(context, builder, signature, values, row)
        parts = [builder.load(address, align=4) for address in addresses]
        return context.make_tuple(builder, row, parts)

    return row(x, i, lanes, vectors), generate


@intrinsic
def fmadd_row(typing_context, a, b, c):
    """Return the row whose vector k is a·b[k] + c[k], for a vector a and rows b and c.

    A row is a tuple of vectors. The call is fmadd_row(a, b, c). It takes one vfmadd231ps per
    vector.
    """
    if not (_is_row(b) and b == c and a == b.dtype):
        return None

    def generate(context, builder, signature, values):
        rows = [cgutils.unpack_tuple(builder, row) for row in values[1:]]
        parts = [_fma(builder, values[0], left, right) for left, right in zip(*rows)]
        return context.make_tuple(builder, b, parts)

    return b(a, b, c), generate


@intrinsic
def mul_row(typing_context, a, b):
    """Return the row whose vector k is a·b[k], for a vector a and a row b: mul_row(a, b).

    A row is a tuple of vectors. It takes one vmulps per vector.
    """
    if not (_is_row(b) and a == b.dtype):
        return None

    def generate(context, builder, signature, values):
        parts = [builder.fmul(values[0], part) for part in cgutils.unpack_tuple(builder, values[1])]
        return context.make_tuple(builder, b, parts)

    return b(a, b), generate


@intrinsic
def store_row(typing_context, x, i, row):
    """Store a row, a tuple of vectors, in the elements of x from x[i] on: store_row(x, i, row).

    It takes one vmovups per vector.
    """
    if not (_is_vector_memory(x) and isinstance(i, types.Integer) and _is_row(row)):
        return None

    def generate(context, builder, signature, values):
        addresses = _addresses(context, builder, signature, values, row)
        for part, address in zip(cgutils.unpack_tuple(builder, values[2]), addresses):
            builder.store(part, address, align=4)
        return context.get_dummy_value()

    return types.void(x, i, row), generate


@intrinsic
def load_row_masked(typing_context, x, i, lanes, vectors, count):
    """Load x[i : i + count] into a row, a tuple of `vectors` vectors of `lanes` floats each.

    The floats after the first `count` are zeros. The call is
    load_row_masked(x, i, lanes, vectors, count).
    """
    row = _row_of(lanes, vectors)
    if row is None or not (_is_vector_memory(x) and isinstance(i, types.Integer)):
        return None

    def generate(context, builder, signature, values):
        addresses = _addresses(context, builder, signature, values, row)
        masks = _masks(context, builder, values[4], count, row)
        parts = [_masked_load(builder, *pair, row.dtype.lanes) for pair in zip(addresses, masks)]
        return context.make_tuple(builder, row, parts)

    return row(x, i, lanes, vectors, count), generate


@intrinsic
def store_row_masked(typing_context, x, i, row, count):
    """Store the first `count` lanes of a row, a tuple of vectors, in x[i : i + count].

    The call is store_row_masked(x, i, row, count). Memory after these elements is not accessed.
    """
    if not (_is_vector_memory(x) and isinstance(i, types.Integer) and _is_row(row)):
        return None

    def generate(context, builder, signature, values):
        addresses = _addresses(context, builder, signature, values, row)
        masks = _masks(context, builder, values[3], count, row)
        parts = cgutils.unpack_tuple(builder, values[2])
        for part, address, mask in zip(parts, addresses, masks):
            _masked_store(builder, part, address, mask)
        return context.get_dummy_value()

    return types.void(x, i, row, count), generate


# The functions on the virtual GPU. They refuse the types that the functions above refuse, because
# Numba may not type the calling function there. Addresses need not be aligned (the u in loadu).


def _load(machine: virtual_gpu.Machine, x, i, lanes) -> tuple:
    """Run `loadu` on the virtual GPU: return x[i : i + lanes] as a tuple."""
    return machine.load(x, i, _checked_lanes(machine, lanes), aligned=False)


def _broadcast(machine: virtual_gpu.Machine, x, i, lanes) -> tuple:
    """Run `broadcast` on the virtual GPU: return a tuple with x[i] in each lane."""
    return machine.load(x, i, 1) * _checked_lanes(machine, lanes)


def _set1(machine: virtual_gpu.Machine, value, lanes) -> tuple:
    """Run `set1` on the virtual GPU: return a tuple with the value in each lane.

    Raises Unsupported for a value that is no float32.
    """
    if getattr(value, "dtype", None) != np.float32:
        raise virtual_gpu.Unsupported(f"{machine.site}: set1 needs a float32.")
    return (value,) * _checked_lanes(machine, lanes)


def _mul(machine: virtual_gpu.Machine, a, b) -> tuple:
    """Run `mul` on the virtual GPU: return the products of the lanes as a tuple."""
    return tuple(map(machine.multiply, *_checked_vectors(machine, a, b)))


def _fmadd(machine: virtual_gpu.Machine, a, b, c) -> tuple:
    """Run `fmadd` on the virtual GPU: return a·b + c of the lanes as a tuple."""
    return tuple(map(machine.multiply_add, *_checked_vectors(machine, a, b, c)))


def _store(machine: virtual_gpu.Machine, x, i, vector) -> None:
    """Run `storeu` on the virtual GPU: store the vector's lanes from x[i] on."""
    machine.store(x, i, *_checked_vectors(machine, vector), aligned=False)


def _checked_lanes(machine: virtual_gpu.Machine, lanes) -> int:
    """Return `lanes` as an int; raise Unsupported unless it is 8 or 16."""
    if lanes not in LANES:
        raise virtual_gpu.Unsupported(f"{machine.site}: a vector has 8 or 16 lanes, not {lanes}.")
    return int(lanes)


def _checked_vectors(machine: virtual_gpu.Machine, *operands) -> tuple:
    """Return the operands; raise Unsupported unless all are tuples of 8, or all of 16, lanes."""
    for one in operands:
        if not (isinstance(one, tuple) and len(one) == len(operands[0]) and len(one) in LANES):
            raise virtual_gpu.Unsupported(
                f"{machine.site}: every operand must be a vector, and as long as the others."
            )
    return operands


virtual_gpu.register(loadu, _load, reads=(0,))
virtual_gpu.register(broadcast, _broadcast, reads=(0,))
virtual_gpu.register(set1, _set1)
virtual_gpu.register(mul, _mul)
virtual_gpu.register(fmadd, _fmadd)
virtual_gpu.register(storeu, _store)
