"""Checks that a submission is a kernel, or CPU function, with the parameters of the task."""

from __future__ import annotations

import ast
import inspect

from numba.core.registry import CPUDispatcher

from labs.checking.exercise import KernelExercise
from labs.checking.phrasing import counted
from labs.checking.untyped_names import untyped_name
from utils.translation import translate
from virtual_gpu import VirtualGpuError
from virtual_gpu.common.source import Source, read_source

ARGUMENTS = {1: "one argument", 2: "two arguments", 3: "three arguments", 4: "four arguments"}


def no_kernel(exercise: KernelExercise, submission: object) -> str | None:
    """Return a sentence on why the check cannot run a submission, or None if it can.

    It can run a kernel, or a CPU function if the exercise asks for one, with the right parameters
    in the right order and without a return value. A CPU function must not use `cuda`, and a kernel
    no name that Numba compiles only with `cuda.` before it.
    """
    no_function = _no_cpu_function if exercise.on_cpu else _no_gpu_function
    return (
        no_function(submission)
        or _other_parameters(exercise, submission)
        or _returns_a_value(exercise, submission)
        or (_speaks_to_the_gpu if exercise.on_cpu else untyped_name)(submission)
    )


def _no_cpu_function(submission: object) -> str | None:
    """Return a sentence on why a submission is no function with `@njit`, or None if it is one."""
    if submission is None:
        return translate(
            "This is `None`. A call of your function returns `None`, too: the check calls it by "
            "itself and needs its name alone."
        )
    if isinstance(submission, str):
        return _a_text(submission)
    if isinstance(submission, CPUDispatcher):
        return None
    if hasattr(submission, "py_func"):
        return translate(
            "`{name}` has `@cuda.jit` above it: it is a kernel of the GPU. This task is about the "
            "CPU, whose functions have `@njit` above them.",
            name=submission.py_func.__name__,
        )
    if inspect.isfunction(submission):
        return translate(
            "There is no `@njit` above `{name}`: it is plain Python, which Numba does not compile.",
            name=submission.__name__,
        )
    return translate(
        "This {type} is no function with `@njit` above it, and the check needs one.",
        type=type(submission).__name__,
    )


def _a_text(submission: str) -> str:
    """Return the sentence for a submission that is a string instead of a function."""
    return translate(
        "{text!r} is a text. The check needs the function itself, without quotes.", text=submission
    )


def _speaks_to_the_gpu(submission: CPUDispatcher) -> str | None:
    """Return a sentence on a line of a CPU function that uses `cuda`, or None if there is none.

    It is also None if the source of the function cannot be read.
    """
    source = _source_of(submission)
    if source is None:
        return None
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name) and node.id == "cuda":
            site = source.site(node)
            return translate(
                "Line {line}, `{code}`: `cuda` is for kernels. A function with `@njit` runs once, "
                "on the CPU, and its loops do all the work.",
                line=site.line,
                code=site.source,
            )
    return None


def _no_gpu_function(submission: object) -> str | None:
    """Return a sentence on why a submission is no kernel with `@cuda.jit`, or None if it is one."""
    if submission is None:
        return translate(
            "This is `None`. A launch, `kernel[grid, block](...)`, returns `None`, too: the check "
            "launches your kernel by itself and needs its name alone."
        )
    if isinstance(submission, str):
        return _a_text(submission)
    if _is_launch(submission):
        return translate(
            "This is a kernel with its launch, `kernel[grid, block]`. The check chooses grid and "
            "block by itself and needs the kernel alone, without brackets."
        )
    if isinstance(submission, CPUDispatcher):
        return translate(
            "Your function has `@njit` above it: it is compiled for the CPU and is no kernel."
        )
    if not hasattr(submission, "py_func"):
        if inspect.isfunction(submission):
            return translate(
                "There is no `@cuda.jit` above `{name}`: it is plain Python and no kernel.",
                name=submission.__name__,
            )
        return translate(
            "This {type} is no kernel. The check needs the function itself.",
            type=type(submission).__name__,
        )
    if getattr(submission, "targetoptions", {}).get("device"):
        return translate(
            "`{name}` is a device function (`device=True`): kernels call it, and nothing can "
            "launch it.",
            name=submission.py_func.__name__,
        )
    return None


def _is_launch(submission: object) -> bool:
    """Return True if a submission is a kernel indexed by its launch, `kernel[grid, block]`."""
    return not hasattr(submission, "py_func") and "Launch" in type(submission).__name__


def _other_parameters(exercise: KernelExercise, kernel) -> str | None:
    """Return a sentence if a kernel has another number or order of parameters, else None.

    Parameters with other names than the task's are accepted.
    """
    expected = exercise.parameters
    signature = inspect.signature(kernel.py_func)
    names = tuple(signature.parameters)
    shown = ", ".join(f"`{name}`" for name in expected)
    try:
        signature.bind(*expected)
    except TypeError:
        actual = ", ".join(f"`{name}`" for name in names) or translate("none")
        return exercise.words.say(
            "The task {run} with {arguments}, {expected}. Yours has {parameters}: {actual}.",
            arguments=translate(ARGUMENTS[len(expected)]),
            expected=shown,
            parameters=counted(len(names), "parameter"),
            actual=actual,
        )
    if names != expected and sorted(names) == sorted(expected):
        actual = ", ".join(f"`{name}`" for name in names)
        return exercise.words.say(
            "The task {run} with {expected}, in this order. Your parameters stand in another one: "
            "{actual}.",
            expected=shown,
            actual=actual,
        )
    return None


def _returns_a_value(exercise: KernelExercise, kernel) -> str | None:
    """Return a sentence on a line of a kernel that returns a value, or None if none does.

    A `return` within an inner function does not count. If several lines return a value, the
    sentence is on the least nested one. Returns None, too, if the source code cannot be read.
    """
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
            return exercise.words.say(
                "Line {line}, `{code}`: {any} returns nothing. What it computes goes into an "
                "array.",
                line=site.line,
                code=site.source,
            )
    return None


def _source_of(kernel) -> Source | None:
    """Return the source of a kernel, or None if it cannot be read."""
    try:
        return read_source(kernel.py_func)
    except VirtualGpuError:
        return None  # the launch says it better


def _is_none(value: ast.expr | None) -> bool:
    """Return True if a `return` has no value or None. value: its expression, None without one."""
    return value is None or (isinstance(value, ast.Constant) and value.value is None)
