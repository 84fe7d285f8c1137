"""A translated lesson, such as `07_tiling.es.ipynb`, says the same in other words."""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from utils.paths import ROOT

LESSONS = ROOT / "notebooks"


def code_of(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def differs(original, translated) -> list[str]:
    """What a translation changes that it must not."""
    found = []
    if [cell.cell_type for cell in original.cells] != [cell.cell_type for cell in translated.cells]:
        found.append("its cells are not those of the original, one for one")
    if code_of(original) != code_of(translated):
        found.append("its code is not the original's")
    return found


def test_every_translation_has_the_code_of_its_original():
    for path in LESSONS.glob("*.*.ipynb"):
        original = LESSONS / f"{path.name.partition('.')[0]}.ipynb"
        assert differs(*(nbformat.read(each, as_version=4) for each in (original, path))) == []


def test_a_translation_with_other_code_or_a_cell_less_would_be_noticed():
    cells = [new_markdown_cell("# Teselas"), new_code_cell("1 + 1")]
    original = new_notebook(cells=[new_markdown_cell("# Tiles"), new_code_cell("1 + 1")])
    assert differs(original, new_notebook(cells=cells)) == []
    changed = new_notebook(cells=[cells[0], new_code_cell("1 + 2")])
    assert differs(original, changed) == ["its code is not the original's"]
    assert len(differs(original, new_notebook(cells=cells[1:]))) == 1
