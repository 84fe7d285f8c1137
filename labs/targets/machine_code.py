"""The machine code of a reader's kernel, on a machine with a compiler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from numba import typeof, types

from labs.checking.run import Run
from utils.errors import CourseError
from utils.translation import translate

if TYPE_CHECKING:
    from gpu_xray import XRay
    from gpu_xray.sass import Instruction

OF_64_BITS = ("EX", "U64", "S64")  # modifiers of compares and shifts of 64-bit numbers


def machine_code(run: Run) -> XRay | None:
    """Compile the kernel for the arguments of a run and return the x-ray of its machine code.

    Returns None if it cannot be compiled here, for example because there is no compiler.
    """
    from gpu_xray import xray  # this import takes half a second, which most checks do not need

    arguments = (*run.inputs, run.out)
    try:
        return xray(run.kernel, types.void(*map(typeof, arguments)))
    except (CourseError, ValueError):  # a ValueError: an alignment that is no power of two
        return None


def loop_of_64_bits(run: Run) -> str | None:
    """Return sentences if the kernel's loop compares or shifts 64-bit numbers, else None.

    The result is also None without a compiler, and for machine code without a loop.
    """
    loop = _loop(run)
    if not any(set(OF_64_BITS).intersection(one.opcode.split(".")) for one in loop):
        return None
    found = translate(
        "In machine code the loop of your kernel compares or shifts 64-bit numbers, which takes "
        "two instructions instead of one; it has {number} instructions per iteration.",
        number=len(loop),
    )
    cure = translate(
        "In Numba the results of `uint32 >> uint32` and of `// 2` have 64 bits; `uint32(…)` around "
        "them keeps 32."
    )
    return f"{found} {cure}"


def _loop(run: Run) -> Sequence[Instruction]:
    """Return the instructions of the kernel's hottest loop; () without a loop or a compiler."""
    code = machine_code(run)
    return code.hot.body if code and code.hot else ()


def condition_of_64_bits(run: Run) -> str | None:
    """Return a sentence if the loop has 64-bit numbers besides one comparison, else None.

    The comparison is that of a `uint32` with `cuda.blockDim.x`, which has 64 bits. The result is
    also None without a compiler, and for machine code without a loop.
    """
    loop = [one.opcode.split(".") for one in _loop(run)]
    compares = sum(bool(set(OF_64_BITS).intersection(parts)) for parts in loop)
    if compares <= 1 and not any("WIDE" in parts for parts in loop):
        return None
    return translate(
        "In machine code the loop of your kernel has {number} instructions per iteration, some of "
        "them for 64-bit numbers. In Numba a computation with a `uint32` and a plain `1` has a "
        "result of 64 bits, and so has one with two `uint32`. `uint32(…)` around the result keeps "
        "it in 32 bits and saves instructions.",
        number=len(loop),
    )
