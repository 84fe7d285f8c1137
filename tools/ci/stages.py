"""The stages of the check: the command of each, and the files on which its result depends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from labs.grading.labs import LABS
from tools.ci.dependencies import EXERCISE, LESSON, of_the_repository, reached_by
from utils.lessons.files import notebook_of

PYTEST = (".venv/bin/python", "-m", "pytest", "-q", "--numprocesses", "auto", "--maxprocesses", "4")
# A change of these changes what every stage runs on.
REACH_ALL = ("constraints.txt", "pyproject.toml", "conftest.py", ".ci/run")
# A change of these is one of every lesson.
ENGINE = ("utils/lessons/__init__.py", "utils/lessons/run_notebooks.py", "labs/__init__.py")
OF_LESSONS = ("tests/notebooks", "tests/labs/test_guide.py", "tests/utils/lessons/test_files.py")
PAGES = ("site/", "labs/guide/", "utils/lessons/", "virtual_gpu/pictures/")
# What the environment without numba-cuda is about; most of the course does not know its compiler.
NEXT_COMPILER = (
    *("utils/compilers/", "utils/intrinsics/wide_memory", "utils/intrinsics/fences_mlir.py"),
    *("gpu_xray/mlir.py", "gpu_xray/tests/test_mlir.py", "virtual_gpu/compilers/"),
    *("virtual_gpu/launching/next_compiler.py", "virtual_gpu/tests/next_compiler/"),
    *("utils/launching/numba_kernels.py", "utils/launching/plan.py", "utils/launching/slots.py"),
    *("tests/utils/launching/test_mlir_kernels.py", "tests/utils/launching/mlir_launcher.py"),
    "tests/next_compiler/",
)
BUDGETS = "tests/utils/ladder/test_budgets.py"
SLOW = {
    "slow: labs": ("tests/labs/",),
    "slow: virtual GPU": ("virtual_gpu/tests/", "gpu_xray/tests/"),
    "slow: kernels": (
        *("tests/gemm_kernels/", "tests/reduce_kernels/", "tests/latency_kernels/"),
        "tests/tensor_kernels/",
    ),
    "slow: course": (
        *("tests/utils/", "tests/notebooks/", "tests/data/", "tests/site/", "tests/tools/"),
        "tests/test_",
    ),
}


@dataclass(frozen=True)
class Stage:
    """A stage of the check.

    command: the words of the command. tries: the most attempts before the stage counts as failed.
    """

    command: tuple[str, ...]
    tries: int = 1


@dataclass(frozen=True)
class Change:
    """The paths of the files that changed since a commit; None if everything is to be checked."""

    files: frozenset[str] | None

    @property
    def is_whole(self) -> bool:
        """True if `files` is None or has a file of `REACH_ALL`: everything is to be checked."""
        return self.files is None or bool(self.files & set(REACH_ALL))

    @property
    def exercises(self) -> list[str]:
        """The names of the exercises whose own files changed, sorted; [] if `files` is None."""
        return sorted({match[1] for file in self.files or () if (match := EXERCISE.match(file))})

    @cached_property
    def reached(self) -> set[str]:
        """The paths of the changed files and of all files that depend on them.

        Changes in the own files of an exercise or a lesson do not count. The set is empty if
        `files` is None.
        """
        own = (LESSON, EXERCISE)
        others = [file for file in self.files or () if not any(kind.match(file) for kind in own)]
        return reached_by(others, of_the_repository())

    @property
    def lessons(self) -> list[str] | None:
        """The numbers of the lessons whose own files changed, sorted, as texts such as "07".

        An extra lesson has its name instead of a number. The value is [] if no lesson's own files
        changed, and None if all lessons must be checked: because everything must be, or because a
        file that every lesson uses changed.
        """
        if self.is_whole or self.reached & set(ENGINE):
            return None
        return sorted({match[1] for file in self.files if (match := LESSON.match(file))})

    def reaches(self, starts: Iterable[str]) -> bool:
        """Return True if the change reaches a file whose path begins with one of `starts`.

        It is also True if everything is to be checked.
        """
        return self.is_whole or any(file.startswith(tuple(starts)) for file in self.reached)


Build = Callable[[Change], Stage | None]


def stages() -> Mapping[str, Build]:
    """Return the stages in their order, by name.

    Each value is a function from a change to the stage to run, or to None if the change does not
    reach it.
    """
    return {
        "lint": _always("make", "lint"),
        "pins": _if_reached(("utils/machine/check_pythons.py",), "make", "check-pythons"),
        "tests": _always("make", "test"),
        "budgets": _always(*PYTEST, "-m", "", "-k", "sm_90", BUDGETS),
        "lessons": _always("make", "run"),
        "site": _site("site"),
        "pages": _site("check-site"),
        "class": _if_reached(
            ("tests/labs/grading/class_of_200.py", "labs/grading/command.py"), "make", "class"
        ),
        "release": _if_reached(
            ("tools/release/", "gpu_xray/", "virtual_gpu/"), "make", "release"
        ),
        "nbgrader": _if_reached(
            ("tests/nbgrader/", "labs/platforms/nb"), "make", "check-nbgrader"
        ),
        # A browser on a busy machine may need a second try.
        "hub": _if_reached(
            ("tests/hub/", "labs/platforms/hub"), "make", "check-hub", tries=2
        ),
        "next compiler": _if_reached(
            NEXT_COMPILER, "make", "check-next-compiler", "NEXT_PYTHONS=3.12"
        ),
        "without compiler": _without_compiler,
        "colab": _colab,
        "self-test": _selftest,
        **{name: _slow(folders) for name, folders in SLOW.items()},
        "slow: exercises": _slow_of_exercises,
    }  # fmt: skip


def _always(*command: str) -> Build:
    """Return a function that takes any change and returns the stage with this command."""
    return lambda change: Stage(command)


def _if_reached(starts: tuple[str, ...], *command: str, tries: int = 1) -> Build:
    """Return a function that takes a change and returns the stage with this command, or None.

    It returns None if the change reaches no file whose path begins with one of `starts`.
    """
    return lambda change: Stage(command, tries) if change.reaches(starts) else None


def _site(target: str) -> Build:
    """Return a function that takes a change and returns a stage on the site's pages, or None.

    The function returns None unless own files of a lesson or an exercise changed, or the change
    reaches a file below PAGES. target: the target of make that the stage runs, to make or to check
    the pages.
    """

    def build(change: Change) -> Stage | None:
        wanted = change.exercises or change.lessons or change.reaches(PAGES)
        return Stage(("make", target)) if wanted else None

    return build


def _slow(folders: tuple[str, ...]) -> Build:
    """Return a function that takes a change and returns the stage of slow tests in these folders.

    The stage runs all of them if everything is to be checked, and else those that the change
    reaches and those of the changed lessons. The function returns None if there are no such tests.
    """
    command = (*PYTEST, "--dist", "loadgroup", "-m", "slow")

    def build(change: Change) -> Stage | None:
        files = {file for file in of_the_repository() if _is_test(file)}
        if not change.is_whole:
            files &= change.reached | _of_lessons(change)
        files = sorted(file for file in files if file.startswith(folders))
        return Stage((*command, *files)) if files else None

    return build


def _of_lessons(change: Change) -> set[str]:
    """Return the paths of test files of the changed lessons, and of pages made from all lessons.

    The set is empty if no lesson or every lesson is to be checked.
    """
    if not change.lessons:
        return set()
    homes = *OF_LESSONS, *(f"tests/utils/lessons/lesson_{number}" for number in change.lessons)
    return {file for file in of_the_repository() if file.startswith(homes)}


def _slow_of_exercises(change: Change) -> Stage | None:
    """Return the stage for the slow tests of the exercises that changed.

    It is None if no exercise changed, or if all exercises are tested anyway.
    """
    if change.is_whole or not change.exercises:
        return None
    wanted = "--exercises", ",".join(change.exercises)
    return Stage((*PYTEST, "--dist", "loadgroup", "-m", "slow", *wanted, "tests/labs"))


def _is_test(file: str) -> bool:
    """Return True for the path of a test file that this environment can run."""
    name = file.rpartition("/")[2]
    elsewhere = ("tests/hub/", "tests/nbgrader/", "tests/next_compiler/")
    return name.startswith("test_") and not file.startswith(elsewhere)


def _selftest(change: Change) -> Stage | None:
    """Return the stage that grades the labs whose exercises changed; None if there are none.

    It grades all labs if the change reaches the grader or anything that the grader runs.
    """
    if change.reaches(("labs/grading/selftest.py",)):
        return Stage(("make", "selftest"))
    changed = set(change.exercises)
    labs = [lab.name for lab in LABS.values() if {part.exercise for part in lab.parts} & changed]
    return Stage(("make", "selftest", f"ARGS={' '.join(labs)}")) if labs else None


def _without_compiler(change: Change) -> Stage | None:
    """Return the stage that runs the changed lessons, or all, without a compiler, as on macOS.

    It is None if no lesson changed.
    """
    return _on_lessons(
        change, "run-without-compiler",
        lambda numbers: "NOTEBOOKS=" + " ".join(str(notebook_of(number)) for number in numbers),
    )  # fmt: skip


def _colab(change: Change) -> Stage | None:
    """Return the stage that runs the changed lessons, or all, with the packages of Colab.

    It is None if no lesson changed.
    """
    return _on_lessons(change, "colab-check", lambda numbers: f"LESSONS={' '.join(numbers)}")


def _on_lessons(change: Change, target: str, option: Callable[[list[str]], str]) -> Stage | None:
    """Return the stage that runs a make target on the changed lessons, or on all lessons.

    It is None if no lesson changed. option: numbers of lessons -> the option of make.
    """
    if change.lessons is None:
        return Stage(("make", target))
    return Stage(("make", target, option(change.lessons))) if change.lessons else None
