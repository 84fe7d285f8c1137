"""64- and 128-bit loads and stores and asynchronous copies, for which Numba-CUDA has no functions.

Each function moves two or four adjacent float32, the first of which is aligned to 8 or 16 bytes.
The functions are intrinsics: the compiler makes one instruction of each (LDG.128, STG.128, LDS.128,
STS.128, LDGSTS.128). The virtual GPU runs and counts them, too. ``stream16`` is for any numbers of
4 or 8 bytes, and for data that is read once.

A position is an index, or a tuple of indices, as in ``x[position]``.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

import virtual_gpu

try:
    from numba.cuda.extending import intrinsic
except ImportError:  # plain numba, whose CUDA target takes the general one
    from numba.extending import intrinsic

FLOAT_BYTES = 4
WIDE_BYTES = 16
COPY_WIDTH = 4  # float32 per asynchronous copy: 16 bytes, the size that bypasses the L1 cache
SHARED_SPACE, GLOBAL_SPACE = 3, 1


def _vector(width: int) -> ir.VectorType:
    return ir.VectorType(ir.FloatType(), width)


def _is_float32_array(array) -> bool:
    """Return True for Numba's type of a float32 array in C order."""
    return isinstance(array, types.Array) and array.dtype == types.float32 and array.layout == "C"


def is_position(array, position) -> bool:
    """Return True if `position` has one integer type per dimension of the array."""
    indices = position.types if isinstance(position, types.BaseTuple) else (position,)
    return len(indices) == array.ndim and all(isinstance(i, types.Integer) for i in indices)


def _fits(array, position) -> bool:
    """Return True for a float32 array in C order and one integer index per dimension."""
    return _is_float32_array(array) and is_position(array, position)


def element_pointer(context, builder, array_and_position, values):
    """Return the LLVM pointer to array[position].

    array_and_position: the Numba types of both. values: the LLVM values of both.
    """
    array_type, position_type = array_and_position
    array, position = values
    indices = indices_of(context, builder, position_type, position)
    struct = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, struct, indices, wraparound=False)


def indices_of(context, builder, position_type, position) -> list:
    """Return the indices of a position as LLVM values of the type intp.

    position_type: the Numba type of the position. position: its LLVM value.
    """
    if isinstance(position_type, types.BaseTuple):
        indices, index_types = cgutils.unpack_tuple(builder, position), position_type.types
    else:
        indices, index_types = [position], [position_type]
    return [
        context.cast(builder, index, index_type, types.intp)
        for index, index_type in zip(indices, index_types, strict=True)
    ]


def _load_of(width: int):
    """Return the typing function of an intrinsic that loads `width` float32 as a tuple.

    It takes the Numba types of an array and a position, and returns (signature, code generator), or
    None for types that do not fit.
    """
    alignment, result = FLOAT_BYTES * width, types.UniTuple(types.float32, width)

    def load(typing_context, array, position):
        if not _fits(array, position):
            return None

        def generate(context, builder, signature, values):
            pointer = element_pointer(context, builder, signature.args, values)
            pointer = builder.bitcast(pointer, _vector(width).as_pointer())
            vector = builder.load(pointer, align=alignment)
            parts = [builder.extract_element(vector, ir.IntType(32)(n)) for n in range(width)]
            return context.make_tuple(builder, signature.return_type, parts)

        return result(array, position), generate

    return load


def _store_of(width: int):
    """Return the typing function of an intrinsic that stores a tuple of `width` float32.

    It returns (signature, code generator), or None for types that do not fit.
    """
    alignment, expected = FLOAT_BYTES * width, types.UniTuple(types.float32, width)

    def store(typing_context, array, position, parts):
        if not _fits(array, position) or parts != expected:
            return None

        def generate(context, builder, signature, values):
            pointer = element_pointer(context, builder, signature.args[:2], values[:2])
            vector = ir.Constant(_vector(width), ir.Undefined)
            for number, part in enumerate(cgutils.unpack_tuple(builder, values[2])):
                vector = builder.insert_element(vector, part, ir.IntType(32)(number))
            pointer = builder.bitcast(pointer, _vector(width).as_pointer())
            builder.store(vector, pointer, align=alignment)
            return context.get_dummy_value()

        return types.void(array, position, parts), generate

    return store


def named(name: str, function, doc: str):
    """Return a typing function as an intrinsic with this name and docstring."""
    function.__name__, function.__qualname__, function.__doc__ = name, name, doc
    return intrinsic(function)


load2 = named("load2", _load_of(2), "Load two float32 from ``array[position]`` as a tuple.")
load4 = named("load4", _load_of(4), "Load four float32 from ``array[position]`` as a tuple.")
store2 = named("store2", _store_of(2), "Store a tuple of two float32 at ``array[position]``.")
store4 = named("store4", _store_of(4), "Store a tuple of four float32 at ``array[position]``.")


@intrinsic
def stream16(typing_context, array, position):
    """Load 16 bytes of global memory at ``array[position]``, as a tuple of 4 or 2 elements.

    It is for data that is read once and not written by this kernel: the L1 cache does not keep it.
    The dtype is float32 or int32 for 4 elements, float64 or int64 for 2.
    """
    kind = _STREAMED.get(array.dtype) if isinstance(array, types.Array) else None
    if kind is None or array.layout != "C" or not is_position(array, position):
        return None
    element, suffix, register = kind
    width = WIDE_BYTES * 8 // array.dtype.bitwidth

    def generate(context, builder, signature, values):
        pointer = element_pointer(context, builder, signature.args, values)
        pointer = builder.addrspacecast(pointer, ir.PointerType(element, addrspace=GLOBAL_SPACE))
        results = ir.FunctionType(ir.LiteralStructType([element] * width), [ir.IntType(64)])
        names = ", ".join(f"${number}" for number in range(width))
        text = f"ld.global.nc.L1::no_allocate.v{width}.{suffix} {{{names}}}, [${width}];"
        # Marked as having side effects, so that several loads stay together and are in flight at
        # once.
        load = ir.InlineAsm(results, text, f"={register}," * width + "l", side_effect=True)
        parts = builder.call(load, [builder.ptrtoint(pointer, ir.IntType(64))])
        parts = [builder.extract_value(parts, number) for number in range(width)]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(array.dtype, width)(array, position), generate


# The LLVM type, the PTX type and the register class of each dtype that stream16 loads.
_STREAMED = {
    types.float32: (ir.FloatType(), "f32", "f"),
    types.float64: (ir.DoubleType(), "f64", "d"),
    types.int32: (ir.IntType(32), "b32", "r"),
    types.int64: (ir.IntType(64), "b64", "l"),
}


@intrinsic
def before_boundary(typing_context, array):
    """Return the number of elements of an array before its first 16-byte boundary, an int64.

    It is 0 to 3 for elements of 4 bytes, and 0 or 1 for elements of 8 bytes. It may be more than
    the array has. A slice of another array, such as x[1:], may begin at any address.
    """
    if not isinstance(array, types.Array) or array.ndim != 1 or array.dtype not in _STREAMED:
        return None
    size = array.dtype.bitwidth // 8

    def generate(context, builder, signature, values):
        struct = context.make_array(array)(context, builder, values[0])
        address = builder.ptrtoint(struct.data, ir.IntType(64))
        missing = builder.and_(builder.neg(address), ir.IntType(64)(WIDE_BYTES - 1))
        return builder.udiv(missing, ir.IntType(64)(size))

    return types.int64(array), generate


def _copy_of(width: int):
    """Return the typing function of an intrinsic that starts a copy of `width` float32.

    It returns (signature, code generator), or None for types that do not fit.
    """
    # 16 bytes may bypass the L1 cache ("cg"); fewer may not.
    cache = "cg" if width == COPY_WIDTH else "ca"
    text = f"cp.async.{cache}.shared.global [$0], [$1], {width * FLOAT_BYTES};"

    def copy(typing_context, shared, to, source, position):
        if not (_fits(shared, to) and _fits(source, position)):
            return None

        def generate(context, builder, signature, values):
            target = element_pointer(context, builder, signature.args[:2], values[:2])
            origin = element_pointer(context, builder, signature.args[2:], values[2:])
            target = builder.addrspacecast(target, _float_pointer(SHARED_SPACE))
            origin = builder.addrspacecast(origin, _float_pointer(GLOBAL_SPACE))
            addresses = [
                builder.ptrtoint(target, ir.IntType(32)),
                builder.ptrtoint(origin, ir.IntType(64)),
            ]
            assemble(builder, text, "r,l", addresses)
            return context.get_dummy_value()

        return types.void(shared, to, source, position), generate

    return copy


copy1_async = named(
    "copy1_async",
    _copy_of(1),
    "Start a copy of one float32 from global to shared memory; see ``copy4_async``.",
)
copy4_async = named(
    "copy4_async",
    _copy_of(COPY_WIDTH),
    """Start a copy of four float32 from global to shared memory; registers are not involved.

    The copy is complete after commit_copies() and wait_copies(). Other threads may read the result
    only after a barrier. Needs compute capability 8.0.
    """,
)


@intrinsic
def commit_copies(typing_context):
    """Close a group of the copies that this thread has started since its previous group."""

    def generate(context, builder, signature, values):
        assemble(builder, "cp.async.commit_group;", "", [])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def wait_copies(typing_context, pending):
    """Wait until at most ``pending`` (a constant) of this thread's groups are still in flight."""
    if not isinstance(pending, types.IntegerLiteral):
        return None

    def generate(context, builder, signature, values):
        assemble(builder, f"cp.async.wait_group {pending.literal_value};", "", [])
        return context.get_dummy_value()

    return types.void(pending), generate


def _float_pointer(space: int) -> ir.PointerType:
    """Return the LLVM type of a float32 pointer into an address space."""
    return ir.PointerType(ir.FloatType(), addrspace=space)


def assemble(builder, text: str, constraints: str, operands: list) -> None:
    """Emit inline PTX that reads the operands, returns nothing and may change memory."""
    kind = ir.FunctionType(ir.VoidType(), [operand.type for operand in operands])
    constraints = ",".join(part for part in (constraints, "~{memory}") if part)
    builder.call(ir.InlineAsm(kind, text, constraints, side_effect=True), operands)


def _copy_later(width: int):
    """Return a function that runs an asynchronous copy of `width` float32 on the virtual GPU."""

    def copy(machine: virtual_gpu.Machine, shared, to, source, position) -> None:
        machine.copy_later(shared, to, machine.load(source, position, width))

    return copy


def _width(array) -> int:
    """Return the number of an array's elements in 16 bytes."""
    return WIDE_BYTES // array.dtype.itemsize


virtual_gpu.register(load2, lambda machine, array, at: machine.load(array, at, 2), reads=(0,))
virtual_gpu.register(load4, lambda machine, array, at: machine.load(array, at, 4), reads=(0,))
virtual_gpu.register(store2, virtual_gpu.Machine.store)
virtual_gpu.register(store4, virtual_gpu.Machine.store)
virtual_gpu.register(copy1_async, _copy_later(1), reads=(2,))
virtual_gpu.register(copy4_async, _copy_later(COPY_WIDTH), reads=(2,))
virtual_gpu.register(commit_copies, virtual_gpu.Machine.commit_copies)
virtual_gpu.register(wait_copies, virtual_gpu.Machine.wait_copies)
virtual_gpu.register(
    stream16, lambda machine, array, at: machine.load(array, at, _width(array)), reads=(0,)
)
virtual_gpu.register(
    before_boundary, lambda machine, array: np.int64(-array.offset % _width(array)), reads=(0,)
)
