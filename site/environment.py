"""Make `build/site-env`, the environment of the site: `python site/environment.py`.

The course's own Python runs this file. Sphinx and its packages are installed next to the course's,
which the environment sees as well, because the API's pages are made from the docstrings of the real
functions. Nothing happens if nothing has changed.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / "build" / "site-env"
STAMP = ENVIRONMENT / "installed.txt"
PINS = (ROOT / "constraints.txt", ROOT / "site" / "constraints.txt")
PACKAGES = ("furo", "myst-nb", "sphinx", "sphinx-copybutton")
TIMEOUT = 600  # seconds for each of the two commands


def stamp() -> str:
    """Return a text that changes if this Python, its packages or the pins change.

    It has the version of Python, the folder of its packages, and a digest of the pins.
    """
    pins = "".join(file.read_text(encoding="utf-8") for file in PINS)
    digest = hashlib.sha256(pins.encode()).hexdigest()
    return f"{sys.version}\n{sysconfig.get_path('purelib')}\n{digest}\n"


def main() -> int:
    """Make the environment unless it is up to date; return 0, or the failed command's exit code.

    Prints that it installs, and on stderr that it failed.
    """
    if STAMP.exists() and STAMP.read_text(encoding="utf-8") == stamp():
        return 0
    print("Installing Sphinx into build/site-env. This takes up to a minute.", flush=True)
    steps = (_make, _install)
    code = next((failed for step in steps if (failed := step())), 0)
    if code:
        print("The site's packages could not be installed: see above.", file=sys.stderr)
    else:
        STAMP.write_text(stamp(), encoding="utf-8")
    return code


def _make() -> int:
    """Create an empty environment that also sees the course's packages; return venv's exit code."""
    code = _run(sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT))
    if code == 0:
        # addsitedir also reads the .pth files of that folder, one of which finds Numba's CUDA.
        line = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
        (_packages() / "course.pth").write_text(line, encoding="utf-8")
    return code


def _install() -> int:
    """Install `PACKAGES` in the pinned versions into the environment; return pip's exit code."""
    pins = [part for file in PINS for part in ("--constraint", str(file))]
    options = ("--disable-pip-version-check", "--quiet")
    return _run(str(python()), "-m", "pip", "install", *options, *pins, *PACKAGES)


def python() -> Path:
    """Return the path of the site environment's own Python."""
    return Path(sysconfig.get_path("scripts", "venv", _inside())) / Path(sys.executable).name


def _packages() -> Path:
    """Return the path of the environment's `site-packages`."""
    return Path(sysconfig.get_path("purelib", "venv", _inside()))


def _inside() -> dict[str, str]:
    """Return the variables with which `sysconfig` finds paths inside the environment.

    They are "base" and "platbase", both the environment's folder.
    """
    return {"base": str(ENVIRONMENT), "platbase": str(ENVIRONMENT)}


def _run(*command: str) -> int:
    """Run a command in the repository's folder; return its exit code, or 1 after a timeout."""
    try:
        return subprocess.run(command, cwd=ROOT, check=False, timeout=TIMEOUT).returncode
    except subprocess.TimeoutExpired:
        print(f"Stopped after {TIMEOUT} seconds: {' '.join(command)}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
