"""Ways to spell the same submission: names, layout, imports, decorators, constants and encodings.

A style takes the text of a right file and returns another text, which does the same. A file that
it cannot respell, for example because it has no constant, stays as it is.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterator, Mapping

from labs.grading.equivalents import (
    commuted,
    mirrored,
    negated,
    parameters_renamed,
    renamed,
    returned_by_name,
    spread,
    written_out,
)
from tests.labs.grading.style_constants import (
    as_power,
    constants_annotated,
    constants_below,
    constants_changed_before,
    constants_unpacked,
    constants_written,
    whole_numbers_written,
    with_underscores,
)
from tests.labs.grading.style_layout import (
    annotations,
    docstrings,
    indented,
    joined_by_semicolons,
    layout,
    over_lines,
    temporaries,
    unparsed,
    values_written,
    with_comments,
    with_form_feeds,
)
from tests.labs.grading.style_names import (
    compiled_by_a_call,
    decorated_by_a_name,
    helpers,
    imported_as,
    inner_helpers,
    lambdas,
    names_one_by_one,
)


def of_rule(rule: Callable[[ast.Module], ast.Module | None]) -> Callable[[str], str]:
    """Return a style from a rule of `labs.grading.equivalents`."""

    def style(text: str) -> str:
        changed = rule(ast.parse(text))
        return text if changed is None else unparsed(changed)

    return style


def debris(text: str) -> str:
    """Put the usual further code of a script around the functions."""
    return f"{ABOVE}{text}{BELOW}"


ABOVE = textwrap.dedent(
    '''\
    """My work for this lab."""
    import os, sys
    from pathlib import Path

    import numpy as np

    FOLDER = Path(".")
    rng = np.random.default_rng(1)
    try:
        import no_such_module
    except ImportError:
        no_such_module = None


    class Timer:
        """Measures nothing."""

        def __enter__(self):
            return self

        def __exit__(self, *others):
            return False


    '''
)


BELOW = textwrap.dedent(
    """

    def plot(values, *others, title="Result", **options):
        return sorted(values, key=lambda one: -one)


    with Timer() as timer:
        print("timed", [x for x in range(3)], file=sys.stderr)

    if __name__ == "__main__":
        raise SystemExit(plot([1, 2, 3]))
    """
)


STYLES: Mapping[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "variables renamed": of_rule(renamed),
    "parameters renamed": of_rule(parameters_renamed),
    "x += y written out": of_rule(written_out),
    "factors exchanged": of_rule(commuted),
    "comparisons mirrored": of_rule(mirrored),
    "comparisons negated": of_rule(negated),
    "a string and an unused variable": of_rule(spread),
    "the returned value named": of_rule(returned_by_name),
    "names in German": lambda text: of_rule(renamed)(text).replace("my_", "größe_"),
    "comments everywhere": with_comments,
    "blank lines everywhere": layout(lambda line: f"{line}\n\n   "),
    "tabs": layout(indented("\t")),
    "two blanks": layout(indented("  ")),
    "blanks at line ends": layout(lambda line: f"{line} \t "),
    "semicolons": joined_by_semicolons,
    "parentheses": values_written(lambda value: f"(({value}))"),
    "values over several lines": values_written(over_lines),
    "backslashes": values_written(lambda value: f"\\\n            {value}"),
    "temporaries": temporaries,
    "docstrings": docstrings,
    "annotations": annotations,
    "form feeds": with_form_feeds,
    "no newline at the end": lambda text: text.rstrip(),
    "hexadecimal numbers": whole_numbers_written(hex),
    "numbers with underscores": whole_numbers_written(with_underscores),
    "cuda as gpu": imported_as("cuda", "from numba import cuda as gpu", "gpu"),
    "numba.cuda as nc": imported_as("cuda", "import numba.cuda as nc", "nc"),
    "numba.cuda in full": imported_as("cuda", "import numba\nimport numba.cuda", "numba.cuda"),
    "numba as nb": imported_as("cuda", "import numba as nb", "nb.cuda"),
    "names of cuda one by one": names_one_by_one,
    "nb.float32": imported_as("float32", "import numba as nb", "nb.float32"),
    "np.float32": imported_as("float32", "import numpy as np", "np.float32"),
    "types.float32": imported_as("float32", "from numba import types", "types.float32"),
    "f4": imported_as("float32", "from numba import float32 as f4", "f4"),
    "numpy in full": imported_as("np", "import numpy", "numpy"),
    "math as m": imported_as("math", "import math as m", "m"),
    "compiled by a call": compiled_by_a_call,
    "a decorator with a name": decorated_by_a_name,
    "constants as powers": constants_written(as_power),
    "constants by max": constants_written(lambda value: f"max({value}, min(0, {value}))"),
    "conditional constants": constants_written(
        lambda value: f"{value} if LARGE and not 0 else {value + 1}", "LARGE = 3 > 2\n"
    ),
    "annotated constants": constants_annotated,
    "unpacked constants": constants_unpacked,
    "constants that are doubled": constants_changed_before,
    "constants below": constants_below,
    "lambdas": lambdas,
    "helpers": helpers,
    "inner helpers": inner_helpers,
    "a script's debris": debris,
}


ENCODINGS: Mapping[str, Callable[[str], bytes]] = {
    "UTF-8": str.encode,
    "Windows": lambda text: b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
    "an old Macintosh": lambda text: text.replace("\n", "\r").encode(),
}


def cells_of(text: str) -> Iterator[str]:
    """Yield the cells into which a text is split: a cell per function, and what is between them.

    The line breaks at the end of a cell are left out, as Jupyter does.
    """
    lines, start = text.split("\n"), 0
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)]) - 1
            yield "\n".join(lines[start:first]).rstrip("\n")
            yield "\n".join(lines[first : node.end_lineno]).rstrip("\n")
            start = node.end_lineno
    yield "\n".join(lines[start:]).rstrip("\n")
