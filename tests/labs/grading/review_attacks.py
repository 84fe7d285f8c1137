"""Twenty attacks and accidents of one class, with the marks that they deserve; four are hungry.

Each once stopped a class, took another student's page, or cost right work its points: huge numbers,
small archives that are large when unpacked, names of files, signs that end a line elsewhere, and
work without end.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor

from labs.grading import feedback
from labs.grading.labs import Lab
from labs.grading.marks import points_of_rows

MiB = 2**20


@dataclass(frozen=True)
class Attack:
    """What a student hands in.

    what: the attack, in a few words. least, most: the percentage of points that it deserves. files:
    pairs of a path and the content, relative to the folder of the class. student: as in the table.
    """

    what: str
    least: int
    most: int
    files: tuple[tuple[str, bytes], ...]
    student: str


def attacks_on(lab: Lab) -> Iterator[Attack]:
    """Yield the attacks for one lab of the class; there is none for most labs."""
    yield from ATTACKS_ON.get(lab.name, lambda _: ())(lab)


def right(lab: Lab) -> str:
    """Return the solutions of all parts of a lab as one text."""
    return "\n\n".join(part.definition.solution_text for part in lab.parts)


def named(what: str, stem: str, raw: bytes, percent: int, ending: str = ".py") -> Attack:
    """Return an attack of one file, whose stem is the student's name."""
    student = feedback.as_cell(os.fsencode(stem).decode(errors="backslashreplace"))
    return Attack(what, percent, percent, ((f"{stem}{ending}", raw),), student)


def in_one_part(lab: Lab, exercise: str, what: str, body: str) -> Attack:
    """Return an attack in one part of a lab; all others are right and keep their points.

    The part has at most the points of its unchanged starter.
    """
    texts = {part.exercise: part.definition.solution_text for part in lab.parts}
    (part,) = [part for part in lab.parts if part.exercise == exercise]
    head = f"def {exercise}("
    before, _, behind = texts[exercise].partition(head)
    texts[exercise] = f"{before}{head}{behind.partition(':')[0]}:\n{body}\n"
    least = lab.points - part.points
    most = least + (points_of_rows(part)[0] if part.right_starter else 0)
    raw = "\n\n".join(("import math\nfrom numba import cuda", *texts.values())).encode()
    limits = floor(100 * least / lab.points), ceil(100 * most / lab.points)
    return Attack(what, *limits, ((f"{what}.py", raw),), what)


def bomb(method: int, size: int = 400 * MiB) -> bytes:
    """Return a zip of one file of zeros; 400 MiB have some hundred bytes with bzip2."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", method) as archive,
        archive.open("work.py", "w", force_zip64=True) as inner,
    ):
        for _ in range(size // MiB):
            inner.write(bytes(MiB))
    return file.getvalue()


def on_occupancy(lab: Lab) -> Iterator[Attack]:
    """Yield two hungry attacks on a function of numbers, and three with too large values."""
    bodies = {
        "hungry, a huge round": "    return round(5, -200000000)",
        "hungry, a huge product": (
            "    x = 3\n    for i in range(12):\n        x = x * x\n"
            "    return math.prod([x] * 30000)"
        ),
        "a number above 1e308": (
            "    x = 2\n    for i in range(11):\n        x = x * x\n    return x"
        ),
        "long texts": "    return {"
        + ", ".join(f"{one}: '{'x' * 2000}'" for one in range(1500))
        + "}",
        "a signature as Python": (
            "    return cuda.jit(\"__import__('os')._exit(0)\")(lambda x: None)"
        ),
    }
    for what, body in bodies.items():
        yield in_one_part(lab, "required_shared", what, body)


def on_tiling(lab: Lab) -> Iterator[Attack]:
    """Yield a hungry kernel that waits for ever."""
    body = "    while True:\n        c[0, 0] += a[0, 0]"
    yield in_one_part(lab, "tiling", "hungry, a loop without end", body)


def on_latency(lab: Lab) -> Iterator[Attack]:
    """Yield a hungry kernel that counts to 2**60, and a folder of many small archives."""
    exercise = lab.parts[0].exercise
    body = "    total = 0\n    for i in range(2**30):\n        for j in range(2**30):\n"
    body += "            total += i * j"
    yield in_one_part(lab, exercise, "hungry, counts without end", body)
    small = bomb(zipfile.ZIP_DEFLATED, 6 * MiB)
    zips = tuple((f"zips/{number}.zip", small) for number in range(120))
    yield Attack("120 zips", 0, 0, zips, "zips")


def on_first_kernel(lab: Lab) -> Iterator[Attack]:
    """Yield archives, names of files, and signs at line ends, which a small lab shows quickly."""
    text = right(lab)
    raw = text.encode()
    yield named("bzip2", "bzip2", bomb(zipfile.ZIP_BZIP2), 0, ".zip")
    yield named("LZMA", "LZMA", bomb(zipfile.ZIP_LZMA), 0, ".zip")
    yield named("deflate", "deflate", bomb(zipfile.ZIP_DEFLATED, 50 * MiB), 0, ".zip")
    yield named("a name that is no UTF-8", os.fsdecode(b"caf\xe9"), raw, 100)
    yield named("a long name", "a " + "b" * 249, raw, 100)
    yield named("a name with blanks", "a b", raw, 100)
    stolen = feedback._folder_name("a b")
    yield named("the name of another's folder", stolen, b"x = 1", 0)
    yield named("a formula behind a semicolon", "a;=1+1", raw, 100)
    yield named("a formula behind a line end", "\n=1+1", raw, 100)
    yield named("another text is run", "feeds", fed(text).encode(), 0)
    cells = [{"cell_type": "code", "source": f"# a\u2028 b \u2028 c\f\n{text}\nS = 'a\u2028b'"}]
    notebook = json.dumps({"cells": cells}).encode()
    yield named("line separators", "separators", notebook, 100, ".ipynb")
    yield named("brackets", "brackets", b"x = " + b"(" * 5000 + b")" * 5000, 0)


def fed(text: str) -> str:
    """Return a wrong kernel, with a right one in a string above it, and form feeds."""
    wrong = "\n\n@cuda.jit\ndef scale(x, factor, out):\n    out[0] = 0.0\n"
    lines = "\n".join(text.splitlines())
    return f"from numba import cuda\nX = 1  # {chr(12) * 5}\nY = '''\n{lines}\n'''{wrong}"


ATTACKS_ON = {
    "first_kernel": on_first_kernel,
    "latency": on_latency,
    "occupancy": on_occupancy,
    "tiling": on_tiling,
}
