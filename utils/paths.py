"""The folders of the repository, as absolute paths."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data"
NOTEBOOKS = ROOT / "notebooks"
MEASURED = DATA / "measured"


def lessons() -> dict[str, Path]:
    """Return the path of each lesson's English notebook by its number, such as "07", in order."""
    return {file.name[:2]: file for file in _notebooks() if "." not in file.stem}


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
    return sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
