"""The folders of the repository, as absolute paths."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data"
NOTEBOOKS = ROOT / "notebooks"
MEASURED = DATA / "measured"


EXTRA = "extra_"  # a lesson beside the numbered ones, for readers who want to know more


def lessons() -> dict[str, Path]:
    """Return the path of each lesson's English notebook by its number, such as "07", in order.

    Extra lessons follow the numbered ones; their `number` is a name, such as "lane_maps".
    """
    return {number_of(file.stem): file for file in _notebooks() if "." not in file.stem}


def is_extra(number: str) -> bool:
    """Return True for the name of an extra lesson, and False for a number such as "07"."""
    return not number.isdigit()


def number_of(name: str) -> str:
    """Return a lesson's number, such as "07", or an extra one's name, such as "lane_maps".

    name: that of its notebook's file, with or without suffixes, such as "07_tiling.es.ipynb".
    """
    stem = name.partition(".")[0]
    return stem.removeprefix(EXTRA) if stem.startswith(EXTRA) else stem[:2]


def translations() -> list[Path]:
    """Return the paths of the translated notebooks, such as `07_tiling.es.ipynb`, in order."""
    return [file for file in _notebooks() if "." in file.stem]


def original(translation: Path) -> Path:
    """Return the path of the English notebook of a translated one, whose path is given."""
    return translation.with_name(f"{translation.name.partition('.')[0]}.ipynb")


def tag(notebook: Path) -> str:
    """Return the language in the name of a notebook's file, such as "es"; "" for an English one."""
    return notebook.stem.partition(".")[2]


def _notebooks() -> list[Path]:
    numbered = sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
    return [*numbered, *sorted(NOTEBOOKS.glob(f"{EXTRA}*.ipynb"))]
