"""The machine code of a reader's kernel, on a machine with a compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from numba import typeof, types

from labs.checking.phrasing import quoted
from labs.checking.run import Run
from labs.targets.wide_results import wide_results
from utils.errors import CourseError
from utils.translation import translate
from virtual_gpu.common.source import read_source

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

    The result is also None without a compiler, for a kernel that the compiler refuses, for machine
    code without a loop, and if `uint32(…)` is around all results in the source of the loop.
    """
    loop = _loop(run)
    if not any(set(OF_64_BITS).intersection(one.opcode.split(".")) for one in loop):
        return None
    if not (where := _wide_results(run)):
        return None
    found = translate(
        "In machine code the loop of your kernel compares or shifts 64-bit numbers, which takes "
        "two instructions instead of one; it has {number} instructions per iteration.",
        number=len(loop),
    )
    cure = translate(
        "A result of 64 bits is in {where}. In Numba `uint32 >> uint32` and `// 2` have such "
        "results, and `uint32(…)` around them keeps 32.",
        where=where,
    )
    return f"{found} {cure}"


def _wide_results(run: Run) -> str:
    """Return a phrase on the source lines that `wide_results` finds, or ""."""
    source = read_source(run.kernel.py_func)
    codes = dict(source.lines)
    return translate(", and in ").join(
        translate("line {line}, {code}", line=line, code=quoted(codes[line]))
        for line in wide_results(source.tree)
    )


def _loop(run: Run) -> Sequence[Instruction]:
    """Return the instructions of the kernel's hottest loop.

    They are () without a loop, without a compiler, and for a kernel that the compiler refuses.
    """
    code = machine_code(run)
    return code.hot.body if code and code.hot else ()


def condition_of_64_bits(instructions: int) -> Callable[[Run], str | None]:
    """Return a function that takes a run and returns a remark on 64-bit numbers, or None.

    The remark is on a hottest loop with a wide instruction, such as IMAD.WIDE, or with several
    comparisons or shifts of 64 bits; one is allowed, because `cuda.blockDim.x` has 64 bits. There
    is no remark on a loop with at most `instructions` instructions per iteration, without a
    compiler, for a kernel that the compiler refuses, for machine code without a loop, and if
    `uint32(…)` is around all results in the source of the loop. instructions: those per iteration
    of the course's loop.
    """

    def remark(run: Run) -> str | None:
        loop = _loop(run)
        parts = [one.opcode.split(".") for one in loop]
        compares = sum(bool(set(OF_64_BITS).intersection(one)) for one in parts)
        is_narrow = compares <= 1 and not any("WIDE" in one for one in parts)
        if is_narrow or len(loop) <= instructions or not (where := _wide_results(run)):
            return None
        return translate(
            "In machine code the loop of your kernel has {number} instructions per iteration, "
            "some of them for 64-bit numbers. A result of 64 bits is in {where}. In Numba a "
            "computation with a `uint32` and a plain `1` has such a result, and so has one with "
            "two `uint32`. `uint32(…)` around the result keeps it in 32 bits and saves "
            "instructions.",
            number=len(loop),
            where=where,
        )

    return remark
