"""Tests that interactive pictures keep their keys from JupyterLab's shortcuts."""

import re

import pytest

from utils.paths import ROOT
from virtual_gpu.pictures.svg import KEEP_KEYS

PACKAGES = ("virtual_gpu", "utils", "labs")
# An element that takes arrow keys: a slider, a list of choices, or whatever can have the focus.
TAKES_KEYS = re.compile(r"""type=["\']?range["\']?|<select|tabindex=["\']?0|contenteditable""")
# The player gives keys to the elements of this page.
PAGES = {"player.js": "movie.html"}


def sources():
    files = (
        file
        for package in PACKAGES
        for suffix in ("py", "html", "js")
        for file in sorted((ROOT / package).rglob(f"*.{suffix}"))
    )
    return [
        file
        for file in files
        if "tests" not in file.parts and TAKES_KEYS.search(file.read_text(encoding="utf-8"))
    ]


def test_sliders_and_movies_are_found():
    assert {"svg.py", "movie.html", "player.js"} <= {file.name for file in sources()}


@pytest.mark.parametrize("file", sources(), ids=lambda file: file.name)
def test_what_takes_keys_tells_jupyterlab_to_leave_them(file):
    page = file.with_name(PAGES.get(file.name, file.name))
    text = page.read_text(encoding="utf-8")
    assert KEEP_KEYS in text or "{KEEP_KEYS}" in text
