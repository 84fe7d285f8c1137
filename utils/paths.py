"""The folders of the repository, as absolute paths."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data"
NOTEBOOKS = ROOT / "notebooks"
MEASURED = DATA / "measured"


EXTRA = "extra_"  # a lesson beside the numbered ones, for readers who want to know more


def lessons() -> dict[str, Path]:
    """Return number -> path of the English notebook, sorted by file name.

    The number is a text such as "07". Extra lessons follow; their keys are names such as
    "lane_maps".
    """
    return {number_of(file.stem): file for file in _notebooks() if "." not in file.stem}


def is_extra(number: str) -> bool:
    """Return True for the name of an extra lesson, and False for a number such as "07"."""
    return not number.isdigit()


def number_of(name: str) -> str:
    """Return the number of a lesson, such as "07"; for an extra one its name, such as "lane_maps".

    name: that of the notebook's file, with or without suffixes, such as "07_tiling.es.ipynb".
    """
    stem = name.partition(".")[0]
    return stem.removeprefix(EXTRA) if stem.startswith(EXTRA) else stem[:2]


def translations() -> list[Path]:
    """Return the paths of the translated notebooks, such as `07_tiling.es.ipynb`, sorted.

    Those of extra lessons come last.
    """
    return [file for file in _notebooks() if "." in file.stem]


def original(translation: Path) -> Path:
    """Return the path of the English notebook; translation: the path of a translated one."""
    return translation.with_name(f"{translation.name.partition('.')[0]}.ipynb")


def tag(notebook: Path) -> str:
    """Return the language in the name of a notebook's file, such as "es"; "" for an English one."""
    return notebook.stem.partition(".")[2]


def _notebooks() -> list[Path]:
    """Return the paths of all notebooks, translations included, sorted; extra lessons come last."""
    numbered = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
    return [*numbered, *sorted(NOTEBOOKS.glob(f"{EXTRA}*.ipynb"))]
