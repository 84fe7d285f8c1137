"""The imports of the project, as text, follow its architecture.

An arrow goes from the file that imports to the file that is imported, even if the import is inside
a function. Imports for type annotations only (`if TYPE_CHECKING:`) are no arrows between rooms, but
they must not form a circle either.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from utils.paths import ROOT

KERNELS = ("gemm_kernels", "latency_kernels", "reduce_kernels", "tensor_kernels")
# These import nothing of the course, because they have a separate wheel.
TOOLS = ("gpu_xray", "virtual_gpu")
PACKAGES = (*KERNELS, *TOOLS, "labs", "utils")
# The module that lets kernels run anywhere; kernel packages and labs import it first.
READY = "kernels_anywhere"
GROUND = (
    "utils.division", "utils.errors", "utils.paths", "utils.reader_folder",
    "utils.translated_findings", "utils.translation", "gpu_xray.errors",
)  # fmt: skip
# The rooms that each room may import; every room may also import itself and GROUND.
ROOMS = {
    "utils.compilers": ("gpu_xray",),
    "utils.machine": ("utils.compilers", "gpu_xray"),
    "utils.intrinsics": ("virtual_gpu",),
    "utils.ladder": ("utils.machine", "utils.compilers", *TOOLS),
}
LOWER = (*ROOMS, *TOOLS)
ROOMS["utils.launching"] = ROOMS["utils.measuring"] = LOWER
ROOMS["utils.figures"] = (*ROOMS, *TOOLS)
ROOMS["utils.lessons"] = (*ROOMS, *TOOLS)
OLD_NAMES = {"utils.virtual_gpu": "virtual_gpu", "utils.xray": "gpu_xray"}
# The rooms of the virtual GPU; each may import only itself and those before it.
INNER = (
    "common", "checks", "types", "memory", "numbers", "counts", "machine", "pictures", "language",
    "host", "compilers", "launching", "programs",
)  # fmt: skip
# Modules that a kernel file may import, in addition to its own package.
OF_A_KERNEL = ("utils.intrinsics", "utils.ladder", "utils.machine", *GROUND)
# Files of a kernel package that may import anything: commands, searches, functions for users.
FREE = (
    *("__main__", "dispatch", "tuning", "hiding", "as_called", "pitfalls", "transfers"),
    *("sgemm", "reduction", "blas", "remainder", "ilp_alone", "overlap", "wide_alone", "bits"),
    *("tiles_alone", "occupancy_alone", "rows_apart", "buffers_alone", "trees_alone"),
    *("copies_alone", "pairs_alone", "registers_alone", "grids_alone"),
)
# Imports of starters and solutions, which must run from a notebook cell.
OF_A_READER = ("utils.intrinsics",)
# Modules of one lesson; only that lesson and `utils.lessons` (`course`) may import them. They may
# import the kernels that the lesson is about.
OF_A_LESSON = re.compile(r"utils\.lessons\.lesson_\d\d")
DISPLAYS = ("matplotlib", "rich", "IPython", "ipywidgets", "tqdm")
NOT_FOR_KERNELS = ("pandas", *DISPLAYS)


@cache
def files() -> dict[str, str]:
    """Return the text of every module of the project, by dotted name. Nobody changes it."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    found = {}
    for path in (ROOT / f"{READY}.py", *paths):
        if "tests" in path.relative_to(ROOT).parts:
            continue
        dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[dotted.removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return found


@cache
def imported(
    module: str, text: str, known: frozenset[str], annotations: bool = False
) -> frozenset[str]:
    """Return what a module imports: modules of the project if known, else other packages' names.

    annotations: True to include imports for type annotations only.
    """
    return frozenset(_imports(module, ast.parse(text), known, annotations))


def _imports(
    module: str, tree: ast.Module, known: frozenset[str], annotations: bool
) -> Iterator[str]:
    skipped = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in skipped and not annotations:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module
            if node.level:
                home = f"{module}.x" if is_package(module, known) else module
                base = ".".join([*home.split(".")[: -node.level], node.module or ""]).strip(".")
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield inner if inner in known else base


def is_package(module: str, known: frozenset[str]) -> bool:
    return any(other.startswith(f"{module}.") for other in known)


def arrows(texts: dict[str, str], annotations: bool = False) -> dict[str, frozenset[str]]:
    """Return the imports of each module."""
    known = frozenset(texts)
    return {name: imported(name, text, known, annotations) - {name} for name, text in texts.items()}


def inside(module: str, rooms) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


def is_below(parts: list[str], target: str) -> bool:
    """Return True unless the target's room of the virtual GPU is above this module's room."""
    if parts[0] != "virtual_gpu":
        return True
    here, there = (
        INNER.index(room) if room in INNER else len(INNER)
        for room in (parts[1] if len(parts) > 1 else "", target.partition(".")[2].split(".")[0])
    )
    return there <= here


def forbidden(module: str, target: str) -> bool:
    """Return True if this module must not import the target."""
    parts = module.split(".")
    if parts[0] in TOOLS:
        ours = inside(target, (parts[0],))
        return inside(target, (*PACKAGES, READY)) and not (ours and is_below(parts, target))
    if module == READY:
        return inside(target, PACKAGES) and not inside(target, (*TOOLS, "utils.compilers"))
    if module == "utils":  # its first import decides which names all others get
        return inside(target, PACKAGES) and not inside(target, ("utils.compilers",))
    if room := OF_A_LESSON.match(target):
        return module != "utils.lessons" and not inside(module, (room[0],))
    if parts[0] == "labs":
        if parts[-1] in ("starter", "solution"):
            return inside(target, PACKAGES) and not inside(target, OF_A_READER)
        return inside(target, DISPLAYS) and parts[-1] != "command"
    if inside(target, ("labs",)):  # only lessons and tests may import labs
        return True
    if parts[0] in KERNELS:
        if set(parts) & set(FREE):
            return False
        ours = inside(target, (parts[0], *OF_A_KERNEL, "latency_kernels"))
        return inside(target, NOT_FOR_KERNELS) or (inside(target, PACKAGES) and not ours)
    if module in OLD_NAMES:
        return not inside(target, (OLD_NAMES[module],)) and inside(target, PACKAGES)
    if OF_A_LESSON.match(module) and inside(target, KERNELS):
        return False
    room = ".".join(parts[:2])
    allowed = (room, *GROUND, *ROOMS.get(room, ()))
    return inside(target, PACKAGES) and target != "utils" and not inside(target, allowed)


def breaches(texts: dict[str, str]) -> list[str]:
    return [
        f"{module} knows {target}"
        for module, targets in arrows(texts).items()
        for target in sorted(targets)
        if forbidden(module, target)
    ]


def circle(texts: dict[str, str]) -> list[str]:
    """Return one circle of imports, including those for type annotations, or [] if there is none.
    """
    graph = {
        module: {target for target in targets if target in texts and target != "utils"}
        for module, targets in arrows(texts, annotations=True).items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_every_import_follows_the_arrows_of_the_house():
    assert breaches(files()) == []


def test_no_import_runs_in_a_circle():
    assert circle(files()) == []


def test_every_room_says_what_it_is_for():
    for room in (*ROOMS, *(f"virtual_gpu.{room}" for room in INNER), *TOOLS, "labs"):
        text = files()[room]
        assert len(ast.get_docstring(ast.parse(text)).splitlines()) >= 3, room


@pytest.mark.parametrize(
    "module, line",
    [
        ("virtual_gpu.launching.tracing", "from utils.ladder.step import Step"),
        ("utils.machine.devices", "import gemm_kernels"),
        ("utils.launching.plan", "from utils.measuring import timing"),
        ("utils.measuring.records", "from utils.figures import plots"),
        ("utils.ladder.step", "def f():\n    from utils.measuring import records"),
        ("gemm_kernels.naive", "from utils.measuring.timing import time_gpu"),
        ("gemm_kernels.parts.blocks", "import pandas as pd"),
        ("gpu_xray.kernel", "from utils.ladder import step"),
        ("gpu_xray.errors", "import kernels_anywhere"),
        ("virtual_gpu.memory.shared", "from ..machine import run"),
        ("virtual_gpu.common.lanes", "import gpu_xray"),
        ("kernels_anywhere", "from utils.errors import CourseError"),
        ("utils.lessons.cards", "from labs import check"),
        ("utils.lessons.code", "from utils.lessons.lesson_05 import lanes"),
        ("utils.lessons.lesson_14.big_loop", "from utils.lessons.lesson_05 import lanes"),
        ("gemm_kernels.tuning.search", "import labs"),
        ("labs.checking.judge", "from IPython.display import HTML"),
        ("labs.exercises.coalescing.solution", "from gemm_kernels import LADDER"),
    ],
)
def test_an_arrow_that_runs_back_up_would_be_named(module, line):
    texts = {**files(), module: f"{files()[module]}\n{line}\n"}
    (breach,) = breaches(texts)
    assert breach.startswith(f"{module} knows ")


@pytest.mark.parametrize(
    "line",
    [
        "from utils.ladder.ladder import Ladder",
        "def f():\n    from utils.ladder.ladder import Ladder",
        "if TYPE_CHECKING:\n    from utils.ladder.ladder import Ladder",
    ],
    ids=["at the top", "in a function", "for annotations alone"],
)
def test_a_circle_would_be_named(line):
    texts = {
        "utils.ladder.ladder": "from utils.ladder.shapes import Shape",
        "utils.ladder.shapes": line,
    }
    assert set(circle(texts)) == set(texts)


def test_an_import_for_annotations_alone_is_no_arrow_from_room_to_room():
    line = "if TYPE_CHECKING:\n    from utils.measuring.records import measured\n"
    shapes = f"{files()['utils.ladder.shapes']}\n{line}"
    assert breaches({**files(), "utils.ladder.shapes": shapes}) == []
