"""Who may know whom: the imports of the project, as text, held against its architecture.

An arrow goes from the file that imports to the file that is imported, also where the import is
inside a function. Imports for type annotations alone (`if TYPE_CHECKING:`) are no arrows from room
to room, but no circle may run through them either.
"""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter

import pytest

from utils.paths import ROOT

KERNELS = ("gemm_kernels", "latency_kernels", "reduce_kernels")
PACKAGES = (*KERNELS, "labs", "utils")
GROUND = ("utils.errors", "utils.paths")
# For each room the rooms that its files may know; every room may know itself and the ground.
ROOMS = {
    "virtual_gpu": (),
    "utils.machine": (),
    "utils.intrinsics": ("virtual_gpu",),
    "gpu_xray": ("utils.machine",),
    "utils.ladder": ("utils.machine", "virtual_gpu", "gpu_xray"),
}
LOWER = tuple(ROOMS)
ROOMS["utils.launching"] = ROOMS["utils.measuring"] = LOWER
ROOMS["utils.figures"] = tuple(ROOMS)
ROOMS["utils.lessons"] = tuple(ROOMS)
# What a kernel file knows of the project, besides its own package.
OF_A_KERNEL = ("utils.intrinsics", "utils.ladder", "utils.machine", *GROUND)
# In a kernel package these may know everything: command lines, searches, functions for users.
FREE = (
    *("__main__", "dispatch", "tuning", "hiding", "as_called", "pitfalls", "transfers"),
    *("sgemm", "reduction", "blas"),
)
# A kernel that a reader begins with, or is shown, must run from a cell of its own.
OF_A_READER = ("utils.intrinsics",)
DISPLAYS = ("matplotlib", "rich", "IPython", "ipywidgets", "tqdm")
NOT_FOR_KERNELS = ("pandas", *DISPLAYS)


def files() -> dict[str, str]:
    """Every module of the project and its text."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    found = {}
    for path in paths:
        dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        found[dotted.removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return found


parsed = cache(ast.parse)


def imported(
    module: str, text: str, known: dict[str, str], annotations: bool = False
) -> Iterator[str]:
    """What a module imports: modules of the project where they are known, other packages' names.

    annotations: whether imports for type annotations alone count as well.
    """
    tree = parsed(text)
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


def is_package(module: str, known: dict[str, str]) -> bool:
    return any(other.startswith(f"{module}.") for other in known)


def arrows(texts: dict[str, str], annotations: bool = False) -> dict[str, set[str]]:
    """For each module what it imports."""
    return {
        name: set(imported(name, text, texts, annotations)) - {name} for name, text in texts.items()
    }


def inside(module: str, rooms) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


def forbidden(module: str, target: str) -> bool:
    """Whether this module may not know that one."""
    parts = module.split(".")
    if parts[0] == "labs":
        if parts[-1] in ("starter", "solution"):
            return inside(target, PACKAGES) and not inside(target, OF_A_READER)
        return inside(target, DISPLAYS) and parts[-1] != "command"
    if inside(target, ("labs",)):  # it is known by lessons and tests alone
        return True
    if parts[0] in KERNELS:
        if set(parts) & set(FREE):
            return False
        ours = inside(target, (parts[0], *OF_A_KERNEL, "latency_kernels"))
        return inside(target, NOT_FOR_KERNELS) or (inside(target, PACKAGES) and not ours)
    if module == "utils":  # installs the virtual GPU
        return inside(target, PACKAGES) and target != "virtual_gpu"
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
    """One circle of imports, those for type annotations too; empty where there is none."""
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
    for room in (*ROOMS, "labs"):
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
        ("gpu_xray.kernel", "from ..ladder import step"),
        ("utils.lessons.cards", "from labs import check"),
        ("gemm_kernels.tuning.search", "import labs"),
        ("labs.checking.judge", "from IPython.display import HTML"),
        ("labs.exercises.coalescing.solution", "from gemm_kernels import LADDER"),
    ],
)
def test_an_arrow_that_runs_back_up_would_be_named(module, line):
    texts = files()
    texts[module] += f"\n{line}\n"
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
    texts = files()
    texts["utils.ladder.shapes"] += (
        "\nif TYPE_CHECKING:\n    from utils.measuring.records import measured\n"
    )
    assert breaches(texts) == []
