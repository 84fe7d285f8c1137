"""Sphinx's settings; `site/make_site.py` gathers the sources and runs Sphinx."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

from ipython_pygments_lexers import IPython3Lexer

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that autodoc finds the course's docstrings
FIGURES = ROOT / "data" / "figures"

project = html_title = "Fast GPU kernels in Python"
language = "en"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".rst": "restructuredtext", ".ipynb": "myst-nb", ".md": "myst-nb"}

nb_execution_mode = "off"
# No kernel runs behind a page, so the alternative output of a widget is shown instead.
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]
myst_enable_extensions = ["attrs_inline", "colon_fence", "substitution"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_google_docstring = False
maximum_signature_line_length = 78
python_use_unqualified_type_names = True

html_theme = "furo"
html_static_path = [str(ROOT / "site" / "_static")]
html_css_files = ["course.css"]
html_favicon = str(ROOT / "site" / "_static" / "icon.svg")
# The background of the figures in data/figures.
html_theme_options = {"dark_css_variables": {"color-background-primary": "#0d1117"}}
html_copy_source = False
html_show_copyright = False


def _staircase(ground: str) -> str:
    """Return the Markdown image of the ladder's staircase, with its alternative text.

    ground: the background, "light" or "dark".
    """
    name = f"gemm_staircase_{ground}.svg"
    alternative = ElementTree.parse(FIGURES / name).getroot().get("aria-label")
    return f"![{alternative}](data/figures/{name}){{.only-{ground} .staircase}}"


myst_substitutions = {"staircase": " ".join(map(_staircase, ("light", "dark")))}

_CODE = re.compile(r"(``?)(.+?)\1")


def _as_rst(app, what, name, item, options, lines: list[str]) -> None:
    """Replace a docstring's lines by reStructuredText, in place.

    The docstring is prose with code between backticks and no other markup. Lines that begin with
    "Returns" or "Raises" become paragraphs of their own.
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
    """Change the HTML in `context`: keep only the first movie's player on a page."""
    from virtual_gpu.pictures import once_per_page

    if "body" in context:
        context["body"] = once_per_page(context["body"])


def setup(app) -> None:
    # Cells of notebooks may hold commands, such as `!git`.
    """Register the lexer of notebooks and the two callbacks above with Sphinx."""
    app.add_lexer("python", IPython3Lexer)
    # Before napoleon, which turns the sections of a docstring into markup.
    app.connect("autodoc-process-docstring", _as_rst, priority=400)
    app.connect("html-page-context", _one_player)
