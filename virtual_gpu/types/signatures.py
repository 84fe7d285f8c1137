"""The signatures that a kernel was declared with, and the choice of one for a launch.

As in Numba, the best match of the arguments' types is chosen, and numbers are then cast to its
types.
"""

from __future__ import annotations

from dataclasses import dataclass

from numba.core import types
from numba.np.numpy_support import as_dtype

from ..common.errors import LaunchError
from . import numba_types

Signature = tuple[types.Type, ...]


@dataclass(frozen=True)
class _Launch:
    """The kernel, arguments and declared signatures of one launch.

    ``kernel`` is a dispatcher or a plain function. ``parameters`` are the names of its parameters,
    and ``arguments`` have the same order. ``signatures`` are the declared signatures with as many
    types as there are arguments.
    """

    kernel: object
    parameters: tuple[str, ...]
    arguments: tuple
    signatures: tuple[Signature, ...]

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel.py_func.__name__

    @property
    def expected(self) -> str:
        """The signatures of the launch as text, such as ``(int64) or (float64)``."""
        return " or ".join(map(_shown, self.signatures))


def as_declared(kernel, parameters: tuple[str, ...], arguments: tuple) -> tuple:
    """Return the arguments, with numbers cast to the types of the signature that Numba chooses.

    ``kernel`` is a dispatcher or a plain function. The arguments are returned unchanged if it has
    no signatures, or none with this number of arguments. Raises LaunchError for arguments that fit
    no signature, or several equally well.
    """
    if getattr(kernel, "_can_compile", True):
        return arguments
    signatures = tuple(s for s in kernel.overloads if len(s) == len(arguments))
    launch = _Launch(kernel, parameters, arguments, signatures)
    if not signatures:
        return arguments  # the later check of their number has the better message
    if getattr(kernel, "_specialized", False):
        chosen = signatures[0]
        _check_arrays(launch, chosen)
    else:
        chosen = _best(launch)
    return tuple(map(_cast, parameters, arguments, chosen))


def not_an_argument(name: str, value) -> LaunchError:
    """Return, without raising it, the LaunchError for a value that no kernel takes.

    ``name`` is the parameter's.
    """
    kind = f"{type(value).__module__}.{type(value).__name__}".removeprefix("builtins.")
    advice = "a kernel takes arrays and numbers, and tuples of them"
    if isinstance(value, list):
        advice = "a kernel takes no list; pass np.array() of it, or a tuple"
    elif isinstance(value, int):
        advice = f"{value} has more than 64 bits; a kernel takes whole numbers of up to 64 bits"
    return LaunchError(f"The argument {name} is a {kind}; {advice}.")


def _types_of(launch: _Launch) -> Signature:
    """Return Numba's types of the arguments of a launch; raise LaunchError if one has none."""
    argument_types = []
    for name, value in zip(launch.parameters, launch.arguments, strict=True):
        try:
            argument_types.append(launch.kernel.typeof_pyval(value))
        except Exception:  # Numba raises several kinds of error; each means "no type"
            raise not_an_argument(name, value) from None
    return tuple(argument_types)


def _best(launch: _Launch) -> Signature:
    """Return the signature that Numba's own overload resolution selects for the arguments.

    Raises LaunchError if they fit none, or several equally well.
    """
    context, actual = numba_types.context(), _types_of(launch)
    for formal in launch.signatures:
        context.install_possible_conversions(actual, formal)
    try:
        index = context.tm.select_overload(actual, list(launch.signatures), True, False)
    except TypeError as error:
        fit = "fit several equally well" if "mbiguous" in str(error) else "fit none"
        raise LaunchError(
            f"{launch.name} was given {_shown(actual)}, which {fit} of its signatures "
            f"{launch.expected}; pass arguments of exactly these types."
        ) from None
    return launch.signatures[index]


def _shown(signature: Signature) -> str:
    """Return a signature as text, such as ``(int64, float64)``."""
    return f"({', '.join(map(str, signature))})"


def _check_arrays(launch: _Launch, declared: Signature) -> None:
    """Raise LaunchError unless the arrays among the arguments fit the declared types.

    An array where a number is declared, or a number where an array is declared, raises it too. With
    one signature Numba compares no types, and a wrong array would be read as garbage.
    """
    rows = zip(launch.parameters, launch.arguments, _types_of(launch), declared, strict=True)
    for name, array, actual, formal in rows:
        if isinstance(formal, types.Array) and not _fits(array, actual, formal):
            raise LaunchError(
                f"The argument {name} of {launch.name} is {actual}; its signature says {formal}; "
                "pass an array of that type, number of dimensions and order."
            )
        if isinstance(actual, types.Array) != isinstance(formal, types.Array):
            raise _mismatch(name, array, formal)


def _fits(array, actual: types.Type, formal: types.Array) -> bool:
    """Return True if an array has the declared dtype, number of dimensions and order.

    The order is not compared if the declared layout is "A", or if the array has no flags.
    """
    if not isinstance(actual, types.Array):
        return False
    if (actual.dtype, actual.ndim) != (formal.dtype, formal.ndim):
        return False
    flags = getattr(getattr(array, "value", array), "flags", None)
    orders = {"C": "C_CONTIGUOUS", "F": "F_CONTIGUOUS"}
    return formal.layout not in orders or flags is None or flags[orders[formal.layout]]


def _mismatch(name: str, value, declared: types.Type) -> LaunchError:
    """Return, without raising it, the LaunchError for an argument that its declared type excludes.

    ``name`` is the parameter's name, and ``value`` the argument.
    """
    return LaunchError(
        f"The argument {name} is a {type(value).__name__}; the kernel's signature says {declared}."
    )


def _cast(name: str, value, declared: types.Type):
    """Return one argument; a number, also in a tuple, is cast to the declared type.

    Arguments that are declared as neither a number nor a tuple are returned unchanged. Raises
    LaunchError for a cast that Numba refuses, too, for a value that is no number where one is
    declared, and for a parameter that is declared as a pointer.
    """
    if isinstance(declared, types.CPointer | types.RawPointer):
        raise LaunchError(
            f"The argument {name} is declared as {declared}, an address that does not say how many "
            "elements are there, so the virtual GPU cannot check it; declare an array such as "
            "float32[::1], and pass the array."
        )
    if isinstance(declared, types.BaseTuple) and isinstance(value, tuple):
        return tuple(_cast(name, item, t) for item, t in zip(value, declared.types, strict=True))
    if not isinstance(declared, types.Number | types.Boolean):
        return value
    try:
        number = numba_types.scalar(value)
    except OverflowError:
        raise not_an_argument(name, value) from None
    except TypeError:
        raise _mismatch(name, value, declared) from None
    target = as_dtype(declared)
    lossy = {"f": "iu", "c": "iuf"}  # Numba's launch refuses these casts, too
    if target.kind in lossy.get(number.dtype.kind, ""):
        raise _mismatch(name, value, declared)
    return numba_types.cast(number, target)
