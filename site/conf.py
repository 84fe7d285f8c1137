"""Sphinx's settings. `site/make_site.py` gathers the sources, and runs Sphinx on them."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

from ipython_pygments_lexers import IPython3Lexer

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for the docstrings of the course
FIGURES = ROOT / "data" / "figures"

project = html_title = "Fast GPU kernels in Python"
language = "en"
extensions = ["myst_nb", "sphinx.ext.autodoc"]
source_suffix = {".rst": "restructuredtext", ".ipynb": "myst-nb", ".md": "myst-nb"}

nb_execution_mode = "off"
# Behind a page no program runs: what stands beside a widget is shown instead of it.
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]
myst_enable_extensions = ["attrs_inline", "colon_fence", "substitution"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
maximum_signature_line_length = 78
python_use_unqualified_type_names = True

html_theme = "furo"
html_static_path = [str(ROOT / "site" / "_static")]
html_css_files = ["course.css"]
html_favicon = str(ROOT / "site" / "_static" / "icon.svg")
# The ground of the figures in data/figures.
html_theme_options = {"dark_css_variables": {"color-background-primary": "#0d1117"}}
html_copy_source = False
html_show_copyright = False


def _staircase(ground: str) -> str:
    """The picture of the ladder, with the words that stand in it for who does not see it."""
    name = f"gemm_staircase_{ground}.svg"
    told = ElementTree.parse(FIGURES / name).getroot().get("aria-label")
    return f"![{told}](data/figures/{name}){{.only-{ground} .staircase}}"


myst_substitutions = {"staircase": " ".join(map(_staircase, ("light", "dark")))}

_CODE = re.compile(r"(``?)(.+?)\1")


def _as_rst(app, what, name, item, options, lines: list[str]) -> None:
    """Docstrings are prose with code between backticks: no other sign in them is markup.

    What a function returns and raises begins a line there, and here a paragraph.
    """
    text = "\n".join(map(_line_as_rst, lines))
    lines[:] = re.sub(r"\n(?=(?:Returns|Raises) )", "\n\n", text).split("\n")


def _line_as_rst(line: str) -> str:
    prose = iter(_CODE.split(line))
    parts = []
    for text in prose:
        parts.append(re.sub(r"([\\*|]|_\b)", r"\\\1", text))
        if next(prose, None):
            parts.append(f"``{next(prose)}``")
    return "".join(parts)


def _one_player(app, page, template, context, doctree) -> None:
    """Of several movies on a page, the first brings the player for all."""
    from virtual_gpu.pictures import once_per_page

    if "body" in context:
        context["body"] = once_per_page(context["body"])


def setup(app) -> None:
    # Cells of notebooks may hold commands, such as `!git`.
    app.add_lexer("python", IPython3Lexer)
    app.connect("autodoc-process-docstring", _as_rst)
    app.connect("html-page-context", _one_player)
