"""The reader's own kernels as steps, so that functions for steps of the course accept them.

`own_kernels.toml` in a lesson's folder says which step of the course does the same work as the
kernel of an exercise, and how the exercise launches it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from importlib import import_module

from utils.division import cdiv
from utils.errors import CourseError
from utils.ladder import kept_functions
from utils.ladder.function_text import module_of, plain_function
from utils.ladder.step import Budget, Launch, Step, Variant
from utils.lessons.folders import read_in_all
from utils.translation import translate

TWINS = "own_kernels.toml"


@dataclass(frozen=True)
class Twin:
    """The step of the course that does the same work as the kernel of an exercise.

    lesson: its number. course: the package and the name of the step, such as
    "reduce_kernels.reduce2". constants: the constants of that step. shape: the shape at which the
    lesson compares. previous: the name of the step before it in the lesson; "" for the step that
    the course's step improves on, and the course's step itself if none is to be shown. other:
    constant -> further values at which the reader's kernel runs without a change, such as tile
    sides that the launch decides. block: the threads of a block, x first. covers: the rows and
    columns of the result, or the elements of x, that a block computes. Both are () if the launch is
    that of the step. shared_bytes: dynamic shared memory of a block. note: a sentence on what else
    differs between the two kernels, "" if nothing does.
    """

    lesson: str
    course: str
    shape: str
    constants: dict[str, int]
    previous: str = ""
    other: dict[str, list[int]] = field(default_factory=dict)
    block: tuple[int, ...] = ()
    covers: tuple[int, ...] = ()
    shared_bytes: int = 0
    note: str = ""

    @property
    def package(self) -> str:
        """The package of the step's ladder, such as "reduce_kernels"."""
        return self.course.rpartition(".")[0]

    @property
    def step(self) -> Step:
        """The step of the course."""
        return import_module(self.course).STEP

    @property
    def variant(self) -> Variant:
        """The step of the course with its constants."""
        return self.step.variant(**self.constants)

    @property
    def before(self) -> Variant | None:
        """The step before the course's step, with the same constants where it offers them.

        None if the course's step is the first of its ladder, or is named as its own `previous`.
        """
        name = self.previous or self.step.previous
        if name in (None, self.step.name):
            return None
        step = import_module(self.package).LADDER.step(name)
        shared = {k: v for k, v in self.constants.items() if v in step.choices.get(k, ())}
        return step.variant(**shared)

    @property
    def choices(self) -> dict[str, tuple[int, ...]]:
        """The possible values of each constant of the reader's kernel, by the constant's name.

        The first value is that of the course's step. The dict is empty if the kernel has its own
        launch.
        """
        if self.block:
            return {}
        return {name: (value, *self.other.get(name, ())) for name, value in self.constants.items()}

    def launch(self, shape, **constants: int) -> Launch | None:
        """Return the launch of the reader's kernel at a shape of the ladder; None on the CPU."""
        if not self.block:
            return self.step.launch(shape, **constants)
        sizes = tuple(vars(shape).values())[: len(self.covers)]
        blocks = map(cdiv, sizes, self.covers)
        return Launch(tuple(blocks)[::-1], self.block, self.shared_bytes)


@cache
def twins() -> dict[str, Twin]:
    """Return exercise -> Twin, the step of the course that does the same work; cached.

    Exercises without such a step are not in it.
    """
    lists = ("block", "covers")
    return {
        name: Twin(lesson, **{key: tuple(v) if key in lists else v for key, v in row.items()})
        for lesson, rows in read_in_all(TWINS).items()
        for name, row in rows.items()
    }


def mine(name: str, otherwise: object = None) -> Variant | object:
    """Return the reader's own kernel for an exercise, the latest that `check` found right.

    It is a Variant like those of the course, so that all functions of a lesson take it. If no step
    of the course does the same work, it is the kernel or the function itself. name: that of the
    exercise, such as "tiling". otherwise: what to return, after a printed sentence, if there is no
    right kernel yet. Raises CourseError if there is none and `otherwise` is None, or if the kept
    text cannot be executed.
    """
    text = kept_functions.kept_text(name)
    if not text and otherwise is not None:
        print(
            translate(
                "You have no right answer to {name!r} yet, so this is the course's.", name=name
            )
        )
        return otherwise
    if not text:
        raise CourseError(
            f"There is no right kernel of yours for {name!r} yet: write it, and run "
            f'check("{name}", …). What check finds right is kept.'
        )
    try:
        return _step_of(name, text).variant() if name in twins() else kept_functions.kept(name)
    except Exception as error:  # the reader may have changed the file
        raise CourseError(
            f"The text that is kept of your {name!r} cannot be executed ({error}): delete "
            f"{kept_functions.file_of(name)}, and run its check again."
        ) from error


def is_mine(variant: Variant) -> bool:
    """Return True for a variant that `mine` or `of_text` returned; it has no record."""
    return variant.step.module.rpartition(".")[2].startswith("mine_")


def of_kernel(kernel) -> Variant:
    """Return the variant of a kernel of the reader's that `check` found right.

    Raises CourseError for any other kernel, and for one without a step of the course that does the
    same work.
    """
    name = getattr(plain_function(kernel), "__name__", repr(kernel))
    if callable(kernel) and name in twins() and kept_functions.is_kept(name, kernel):
        return mine(name)
    if callable(kernel) and name not in twins() and kept_functions.kept_text(name):
        raise CourseError(
            f"No step of the course does the work of your `{name}`, so there is no launch and no "
            "shape to show it with: choose a step of the course."
        )
    raise CourseError(
        f"`{name}` is no step, and a step is needed: a step of the course, or your own kernel by "
        f"course.mine(…), after check has found it right."
    )


def of_text(name: str, text: str) -> Variant:
    """Return a kernel as the variant that `mine` returns for the reader's right kernel.

    name: the exercise's name. text: the kernel's module, such as the solution's. Raises KeyError
    for an exercise that is not in `own_kernels.toml`.
    """
    return _step_of(name, text).variant()


@lru_cache(maxsize=64)
def _step_of(name: str, text: str) -> Step:
    """Return the step for a kept kernel of the reader's; name: the exercise's name.

    It computes what the course's step computes, and this step is its `previous`. Kernel, launch and
    choices are those of the reader's kernel, its name is the exercise's, and it has no budget and
    no `choose`. It is defined in a new module that is made of `text`.
    """
    twin = twins()[name]
    module = module_of(f"{twin.package}.mine_{name}", text)
    kernel = getattr(module, name)

    def build(**constants: int):
        return kernel

    build.__module__ = module.__name__  # code of the step is looked up there
    module.STEP = replace(
        twin.step,
        module=module.__name__,
        name=name,
        idea=f"your kernel of lesson {twin.lesson}",
        previous=twin.step.name,
        build=build,
        launch=twin.launch,
        choices=twin.choices,
        budget=Budget(),
        choose=None,
    )
    return sys.modules[module.__name__].STEP
