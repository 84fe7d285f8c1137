"""Where things lie: in the repository, or in the package where the course is installed."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
# A wheel holds data/ and notebooks/ in this package; in the repository they lie beside it.
INSTALLED = (_PACKAGE / "data").is_dir()
ROOT = _PACKAGE if INSTALLED else _PACKAGE.parent
DATA = ROOT / "data"
NOTEBOOKS = ROOT / "notebooks"
MEASURED = DATA / "measured"
