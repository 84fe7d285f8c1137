"""The folders of the repository, as absolute paths."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "data"
NOTEBOOKS = ROOT / "notebooks"
MEASURED = DATA / "measured"


def lessons() -> dict[str, Path]:
    """Return the English notebook of each lesson, by its number, in reading order."""
    return {file.name[:2]: file for file in _notebooks() if "." not in file.stem}


def translations() -> list[Path]:
    """Return the translated notebooks, such as `07_tiling.es.ipynb`."""
    return [file for file in _notebooks() if "." in file.stem]


def original(translation: Path) -> Path:
    """Return the English notebook of a translated one."""
    return translation.with_name(f"{translation.name.partition('.')[0]}.ipynb")


def tag(notebook: Path) -> str:
    """Return the language in a notebook's name, such as "es"; "" for an English one."""
    return notebook.stem.partition(".")[2]


def _notebooks() -> list[Path]:
    return sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
