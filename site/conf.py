"""Sphinx's settings; `site/make_site.py` gathers the sources and runs Sphinx."""

import html
import re
import sys
import textwrap
import tomllib
from pathlib import Path
from xml.etree import ElementTree

from ipython_pygments_lexers import IPython3Lexer

ROOT = Path(__file__).resolve().parent.parent
# So that autodoc finds the course's docstrings, and this file its neighbour.
sys.path[:0] = [str(ROOT), str(ROOT / "site")]
FIGURES = ROOT / "data" / "figures"
MOST_DESCRIBED = 180  # characters of a page's description

project = html_title = "Fast GPU kernels in Python"
language = "en"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
version = release = PROJECT["version"]
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
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

# Commands and code can be copied, but not what they print.
copybutton_selector = "div.highlight pre:not(.cell_output pre, .highlight-text pre)"
copybutton_prompt_text = "$ "

exclude_patterns = ["downloads"]  # notebooks that are files, and no pages
templates_path = [str(ROOT / "site" / "_templates")]
html_search_scorer = str(ROOT / "build" / "site-source" / "search_scorer.js")
html_last_updated_fmt = "%-d %B %Y"
html_context = {"licence": PROJECT["license"]}
html_theme = "furo"
html_static_path = [str(ROOT / "site" / "_static")]
html_css_files = ["course.css"]
html_favicon = str(ROOT / "site" / "_static" / "icon.svg")
# The background of the figures in data/figures.
html_theme_options = {"dark_css_variables": {"color-background-primary": "#0d1117"}}
html_copy_source = False
html_show_copyright = False


def _picture(name: str) -> str:
    """Return two Markdown images of a figure of `data/figures`, for light and for dark pages.

    name: the name of its files without "_light.svg" and "_dark.svg". The alternative text of each
    image is the `aria-label` of its SVG.
    """
    images = []
    for ground in ("light", "dark"):
        file = f"{name}_{ground}.svg"
        words = ElementTree.parse(FIGURES / file).getroot().get("aria-label").replace("`", "")
        words = re.sub(r"([][])", r"\\\1", words)
        images.append(f"![{words}](data/figures/{file}){{.only-{ground} .{name}}}")
    return " ".join(images)


myst_substitutions = {name: _picture(name) for name in ("gemm_staircase", "traced_kernel")}

_CODE = re.compile(r"(``?)(.+?)\1")


def _as_rst(app, what, name, item, options, lines: list[str]) -> None:
    """Replace the docstring in `lines` by reStructuredText, in place; a callback of Sphinx.

    The docstring is prose with code between backticks and no other markup. Lines that begin with
    "Returns" or "Raises" become paragraphs of their own.
    """
    text = "\n".join(map(_line_as_rst, lines))
    lines[:] = re.sub(r"\n(?=(?:Returns|Raises) )", "\n\n", text).split("\n")


def _line_as_rst(line: str) -> str:
    """Return a line with its code in double backticks and the prose's markup escaped."""
    prose = iter(_CODE.split(line))
    parts = []
    for text in prose:
        parts.append(re.sub(r"([\\*|]|_\b)", r"\\\1", text))
        if next(prose, None):
            parts.append(f"``{next(prose)}``")
    return "".join(parts)


def _one_player(app, page, template, context, doctree) -> None:
    """Keep only the first movie player in the HTML of `context["body"]`; a callback of Sphinx."""
    from virtual_gpu.pictures import once_per_page

    if "body" in context:
        context["body"] = once_per_page(context["body"])


def _describe(app, page, template, context, doctree) -> None:
    """Append a description to `context["metatags"]`, the tags of the page's head, unless it is "".

    Search engines and previews of links show it. A callback of Sphinx. page: the name of the page,
    such as "notebooks/07_tiling".
    """
    words = _description(page, doctree)
    if words:
        tag = f'<meta name="description" content="{html.escape(words)}">'
        context["metatags"] = context.get("metatags", "") + tag


def _description(page: str, doctree) -> str:
    """Return the syllabus's sentence on a lesson; for other pages the first paragraph's beginning.

    page: Sphinx's name of the page, such as "notebooks/07_tiling". The beginning has at most
    `MOST_DESCRIBED` characters; it is "" without a paragraph.
    """
    from docutils import nodes
    from notebook_pages import descriptions

    name = f"{Path(page).name}.ipynb"
    if page.startswith("notebooks/") and name in descriptions():
        return descriptions()[name]
    paragraphs = doctree.findall(nodes.paragraph) if doctree else ()
    first = next((each for each in paragraphs if not isinstance(each.parent, nodes.container)), "")
    return textwrap.shorten(first.astext(), MOST_DESCRIBED, placeholder=" …") if first else ""


def _set_language(app, page, template, context, doctree) -> None:
    """Set the language of a translated lesson's page; a callback of Sphinx.

    page: the name of the page, such as "notebooks/07_tiling.es".
    """
    if page.startswith("notebooks/") and (tag := page.partition(".")[2]):
        context["language"] = tag


def setup(app) -> None:
    # Cells of notebooks may hold commands, such as `!git`.
    """Register the lexer of notebooks and the callbacks of this file with Sphinx."""
    app.add_lexer("python", IPython3Lexer)
    # Before napoleon, which turns the sections of a docstring into markup.
    app.connect("autodoc-process-docstring", _as_rst, priority=400)
    app.connect("html-page-context", _one_player)
    app.connect("html-page-context", _describe)
    app.connect("html-page-context", _set_language)
