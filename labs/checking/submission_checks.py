"""Is it what the task asks for? What a reader may hand over in place of it."""

from __future__ import annotations

import ast
import inspect

from numba.core.registry import CPUDispatcher

from labs.checking.exercise import KernelExercise
from labs.checking.phrasing import counted
from virtual_gpu import VirtualGpuError
from virtual_gpu.common.source import Source, read_source

_NUMBERS = {1: "one argument", 2: "two arguments", 3: "three arguments", 4: "four arguments"}


def no_kernel(exercise: KernelExercise, given: object) -> str | None:
    """Why this cannot be run, or None for a kernel, or a function, with the right parameters."""
    no_function = _no_cpu_function if exercise.on_cpu else _no_gpu_function
    return (
        no_function(given)
        or _other_parameters(exercise, given)
        or _returns_a_value(exercise, given)
        or (_speaks_to_the_gpu(given) if exercise.on_cpu else None)
    )


def _no_cpu_function(given: object) -> str | None:
    if given is None:
        return (
            "This is `None`. A call of your function returns `None`, too: the check calls it by "
            "itself and needs its name alone."
        )
    if isinstance(given, str):
        return f"{given!r} is a text. The check needs the function itself, without quotes."
    if isinstance(given, CPUDispatcher):
        return None
    if hasattr(given, "py_func"):
        return (
            f"`{given.py_func.__name__}` has `@cuda.jit` above it: it is a kernel of the GPU. This "
            "task is about the CPU, whose functions have `@njit` above them."
        )
    if inspect.isfunction(given):
        return (
            f"There is no `@njit` above `{given.__name__}`: it is plain Python, which Numba does "
            "not compile."
        )
    return (
        f"A {type(given).__name__} is no function with `@njit` above it, and the check needs one."
    )


def _speaks_to_the_gpu(given: CPUDispatcher) -> str | None:
    """Where a function of the CPU uses what there is on the GPU alone."""
    source = _source_of(given)
    if source is None:
        return None
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name) and node.id == "cuda":
            site = source.site(node)
            return (
                f"Line {site.line}, `{site.source}`: `cuda` is for kernels. A function with "
                "`@njit` runs once, on the CPU, and its loops do all the work."
            )
    return None


def _no_gpu_function(given: object) -> str | None:
    if given is None:
        return (
            "This is `None`. A launch, `kernel[grid, block](...)`, returns `None`, too: the check "
            "launches your kernel by itself and needs its name alone."
        )
    if isinstance(given, str):
        return f"{given!r} is a text. The check needs the function itself, without quotes."
    if _is_launch(given):
        return (
            "This is a kernel with its launch, `kernel[grid, block]`. The check chooses grid and "
            "block by itself and needs the kernel alone, without brackets."
        )
    if isinstance(given, CPUDispatcher):
        return "Your function has `@njit` above it: it is compiled for the CPU and is no kernel."
    if not hasattr(given, "py_func"):
        if inspect.isfunction(given):
            return (
                f"There is no `@cuda.jit` above `{given.__name__}`: it is plain Python and no "
                "kernel."
            )
        return f"A {type(given).__name__} is no kernel. The check needs the function itself."
    if getattr(given, "targetoptions", {}).get("device"):
        return (
            f"`{given.py_func.__name__}` is a device function (`device=True`): kernels call it, "
            "and nothing can launch it."
        )
    return None


def _is_launch(given: object) -> bool:
    """Whether this is what a kernel makes of grid and block, here or on a device."""
    return not hasattr(given, "py_func") and "Launch" in type(given).__name__


def _other_parameters(exercise: KernelExercise, kernel) -> str | None:
    wanted = exercise.parameters
    signature = inspect.signature(kernel.py_func)
    names = tuple(signature.parameters)
    shown = ", ".join(f"`{name}`" for name in wanted)
    try:
        signature.bind(*wanted)
    except TypeError:
        theirs = ", ".join(f"`{name}`" for name in names) or "none"
        return (
            f"The task {exercise.kind.run} with {_NUMBERS[len(wanted)]}, {shown}. Yours has "
            f"{counted(len(names), 'parameter')}: {theirs}."
        )
    if names != wanted and sorted(names) == sorted(wanted):
        theirs = ", ".join(f"`{name}`" for name in names)
        return (
            f"The task {exercise.kind.run} with {shown}, in this order. Your parameters stand in "
            f"another one: {theirs}."
        )
    return None


def _returns_a_value(exercise: KernelExercise, kernel) -> str | None:
    source = _source_of(kernel)
    if source is None:
        return None
    inner = {
        id(node)
        for function in ast.walk(source.tree)
        if isinstance(function, ast.FunctionDef | ast.Lambda) and function is not source.tree
        for node in ast.walk(function)
    }
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Return) and id(node) not in inner and not _is_none(node.value):
            site = source.site(node)
            return (
                f"Line {site.line}, `{site.source}`: {exercise.kind.any} returns nothing. What "
                "it computes goes into an array."
            )
    return None


def _source_of(kernel) -> Source | None:
    try:
        return read_source(kernel.py_func)
    except VirtualGpuError:
        return None  # the launch says it better


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)
