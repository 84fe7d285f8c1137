"""Submissions of a class for the lab `first_kernel`, under student names that describe them.

PWNED stands for a file that a submission would write, and COURSE for the folder of the course.
"""

import json
from collections.abc import Iterator

RIGHT = """import warnings
from numba import cuda

@cuda.jit
def scale(x, factor, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = factor * x[i]
"""
NOTHING = "from numba import cuda\n\n@cuda.jit\ndef scale(x, factor, out):\n    pass\n"
WRONG = RIGHT.replace("factor * x[i]", "x[i]")
# Each would gain points, files or time if it was run.
ATTACKS = {
    "lists_the_masters": "import os\nopen('PWNED', 'w').write(str(os.listdir('COURSE/source')))\n",
    "writes_marks": (
        "import sqlite3\ndb = sqlite3.connect('COURSE/gradebook.db')\n"
        "db.execute('UPDATE grade SET manual_score = 100')\ndb.commit()\n"
    ),
    "replaces_a_comparison": "import numpy as np\nnp.array_equal = lambda *a: True\n",
    "ends_the_process": "import os\nos._exit(0)\n",
    "loops_for_ever": "while True:\n    pass\n",
}
WARNS = "import sys\nprint('careful', file=sys.stderr)\nwarnings.warn('careful')\n"


def bare(*sources: str) -> dict:
    """Return a notebook without any metadata, as it may come from Colab."""
    return {"cells": [{"cell_type": "code", "source": one} for one in sources]}


def with_function(released: dict, text: str) -> dict:
    """Return the released notebook with another text in the function's cell."""
    notebook = json.loads(json.dumps(released))
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("solution"):
            cell["source"] = text
    return notebook


def changed(released: dict, **metadata: object) -> dict:
    """Return the right notebook with changed nbgrader metadata in its cells."""
    notebook = with_function(released, RIGHT)
    for cell in notebook["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"].update(metadata)
    return notebook


def right(released: dict) -> Iterator[tuple[str, bytes]]:
    """Yield submissions that deserve all points."""
    doubled = with_function(released, RIGHT)
    doubled["cells"] += doubled["cells"]
    yield "bare", _raw(bare("%pip install numba", RIGHT))
    yield "doubled_cells", _raw(doubled)
    yield "lost_names", _raw(changed(released, grade_id=""))
    yield "later_version", _raw(changed(released, schema_version=99))
    yield "other_metadata", _raw({**bare(RIGHT), "nbformat": 4, "metadata": {"language": 5}})
    yield "warns", _raw(with_function(released, RIGHT + WARNS))


def wrong(released: dict, course: str, pwned: str) -> Iterator[tuple[str, bytes, str]]:
    """Yield submissions that deserve no points, with words of the reason given to the student."""
    for name, text in ATTACKS.items():
        text = text.replace("COURSE", course).replace("PWNED", pwned)
        yield name, _raw(with_function(released, text + NOTHING)), "elements are wrong"
    kernel = NOTHING.replace("pass", "import os\n    os._exit(0)")
    yield "ends_in_the_kernel", _raw(bare(kernel)), "an import within a function"
    more = changed(released, points=1000)
    yield "claims_points", _raw(with_function(more, NOTHING)), "elements are wrong"
    script = {"cell_type": "markdown", "metadata": {}, "source": "<script>steal()</script>"}
    spoken = with_function(released, NOTHING + "# <script>steal()</script>\n")
    spoken["cells"].insert(0, script)
    yield "scripts", _raw(spoken), "elements are wrong"
    yield "two_of_one_name", _raw(bare(RIGHT, WRONG)), "leave one"
    yield "no_json", b"{", "no notebook"
    yield "nothing", b"", "is empty"


def _raw(notebook: dict) -> bytes:
    return json.dumps(notebook).encode()
