"""Read what a student handed in (`.py`, `.ipynb` or a zip of them) as pieces of Python."""

from __future__ import annotations

import io
import json
import lzma
import re
import stat
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from labs.grading.lines import with_newlines_alone
from labs.grading.magic_lines import without_magic

MOST_BYTES = 5_000_000  # per file; a notebook with pictures has less than one million
MOST_ENTRIES = 200  # per zip
ENDINGS = (".py", ".ipynb")
# The errors that zipfile and its decompressors raise for a zip that is broken. An encrypted zip
# raises RuntimeError, and an unknown compression method raises NotImplementedError.
BROKEN_ZIP = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, OSError,
    EOFError, ValueError,
)  # fmt: skip
_FUNCTION = re.compile(r"^\s*def ", re.MULTILINE)
# The name of a file in an error message of zipfile.
_NAMED = re.compile(r"""<ZipInfo filename=(['"])(.*?)\1.*>|b?(['"])(.*)\3""")


class Unreadable(Exception):
    """A submission that cannot be read as text; the message is a sentence for the student."""


@dataclass(frozen=True)
class Submission:
    """The raw bytes that one student handed in, by file name, none of it parsed yet.

    student: the name of the file or folder. problem: why there is nothing to read, or "".
    """

    student: str
    files: tuple[tuple[str, bytes], ...]
    problem: str = ""


def unchanged_name(name: str) -> str:
    """Return a file's name unchanged, for a page that only its student gets."""
    return name


def neutral_name(name: str) -> str:
    """Return `submission` with the file's suffix, which hides a student's name in a file name."""
    return f"submission{PurePosixPath(name).suffix}"


def collect(paths: list[Path], called: Callable[[str], str] = unchanged_name) -> list[Submission]:
    """Return one submission per file, and per entry of each folder, named after the student.

    A folder within a folder belongs to one student. Files of other kinds are left out; a file that
    cannot be read becomes a submission with a problem. Equal names get a number. called: maps a
    file's name to the name that feedback uses.
    """
    entries: list[Path] = []
    for path in paths:
        is_folder = path.is_dir() and not path.is_symlink()
        entries += sorted(path.iterdir(), key=lambda one: one.name) if is_folder else [path]
    submissions, names = [], set()
    for entry in entries:
        folder = entry.is_dir() and not entry.is_symlink()
        if entry.name.startswith((".", "__")) or not (folder or _is_work(entry)):
            continue
        student = _unused(entry.name if folder else entry.stem, names)
        submissions.append(submission_of(student, entry, folder, called))
    return submissions


def _unused(name: str, names: set[str]) -> str:
    other, number = name, 2
    while other in names:
        other, number = f"{name}-{number}", number + 1
    names.add(other)
    return other


def _is_work(entry: Path) -> bool:
    return entry.suffix in (*ENDINGS, ".zip")


def submission_of(
    student: str, entry: Path, folder: bool = False, called: Callable[[str], str] = unchanged_name
) -> Submission:
    """Return the submission in a file or folder, with a problem if it cannot be read."""
    files: list[tuple[str, bytes]] = []
    try:
        for path in sorted(entry.rglob("*")) if folder else [entry]:
            if _is_work(path) and not path.name.startswith("."):
                files += _read_files(path, called)
    except Unreadable as error:
        return Submission(student, (), str(error))
    except OSError as error:  # from the folder; errors of its files are handled above
        return Submission(student, (), f"The folder cannot be read: {error.strerror}.")
    if not files:
        return Submission(student, (), "The folder holds no `.py`, no `.ipynb` and no `.zip`.")
    if sum(len(raw) for _, raw in files) > MOST_BYTES:
        return Submission(student, (), _too_large("Together the files"))
    return Submission(student, tuple(files))


def _read_files(path: Path, called: Callable[[str], str]) -> list[tuple[str, bytes]]:
    name = called(path.name)
    raw = _read_bytes(path, name)
    if path.suffix != ".zip":
        return [(name, raw)]
    return [(called(inner), inside) for inner, inside in _unzipped(name, raw, called)]


def _read_bytes(path: Path, name: str) -> bytes:
    """Return the bytes of a regular file; refuse links, and pipes or devices that might block."""
    try:
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            raise Unreadable(f"`{name}` is no plain file: hand in the file itself, no link.")
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise Unreadable(f"`{name}` cannot be opened: {error.strerror}.") from None
    if len(raw) > MOST_BYTES:
        raise Unreadable(_too_large(f"`{name}`"))
    return raw


def _too_large(what: str) -> str:
    verb = "have" if what.endswith("s") else "has"
    return (
        f"{what} {verb} more than {MOST_BYTES // 10**6} MB: hand in the source alone, a notebook "
        "without its outputs."
    )


def _unzipped(name: str, raw: bytes, called: Callable[[str], str]) -> list[tuple[str, bytes]]:
    """Return names and bytes of the Python files in a zip, without trusting its stated sizes."""
    files, remaining = [], MOST_BYTES
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_ENTRIES:
                raise Unreadable(f"`{name}` holds more than {MOST_ENTRIES} files.")
            for entry in entries:
                inner = PurePosixPath(entry.filename)
                if inner.suffix not in ENDINGS or any(
                    p.startswith((".", "__")) for p in inner.parts
                ):
                    continue
                with archive.open(entry) as file:
                    inside = file.read(remaining + 1)
                remaining -= len(inside)
                if remaining < 0:
                    raise Unreadable(_too_large(f"`{name}` unpacked"))
                files.append((inner.name, inside))
    except BROKEN_ZIP as error:
        reason = str(error) or type(error).__name__
        reason = _NAMED.sub(lambda found: f"`{called(found[2] or found[4] or '')}`", reason)
        raise Unreadable(f"`{name}` is no zip that can be unpacked: {reason}.") from None
    if not files:
        raise Unreadable(f"`{name}` holds no `.py` and no `.ipynb`.")
    return files


def pieces_of(name: str, raw: bytes) -> tuple[str, ...]:
    """Return a file's Python: for a notebook, each code cell by itself, with the cell's own lines.

    Lines of IPython (`%`, `!`) are taken out, and all others keep their numbers. Raises Unreadable.
    """
    if not raw.strip():
        raise Unreadable(f"`{name}` is empty.")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Unreadable(f"`{name}` is not UTF-8: save it with this encoding.") from None
    if "\0" in text:
        raise Unreadable(f"`{name}` holds NUL bytes: it is no text.")
    if not name.endswith(".ipynb"):
        return (with_newlines_alone(text),)
    return tuple(without_magic(with_newlines_alone(cell)) for cell in _cells(name, text))


def location_of(submission: Submission, function: str) -> tuple[str, ...]:
    """Return a sentence on which cell or file holds a function, in a tuple.

    The tuple is empty if only one cell or file holds functions, since lines are then clear.
    """
    try:
        locations = [
            location for name, raw in submission.files for location in _locations(name, raw)
        ]
    except Unreadable:
        return ()
    own_locations = [where for where, piece in locations if f"def {function}(" in piece]
    if not own_locations or len(locations) < 2:
        return ()
    return (f"`{function}` is in {' and '.join(own_locations)}: its lines are counted there.",)


def _locations(name: str, raw: bytes) -> list[tuple[str, str]]:
    """Return the pieces of a file that hold functions, each after a description of its location."""
    cell = "code cell {} of " if name.endswith(".ipynb") else ""
    pieces = enumerate(pieces_of(name, raw), start=1)
    return [
        (f"{cell.format(number)}`{name}`", piece)
        for number, piece in pieces
        if _FUNCTION.search(piece)
    ]


def _cells(name: str, text: str) -> list[str]:
    """Return the code cells' sources, which a notebook stores as a string or a list of lines."""
    try:
        cells = json.loads(text)["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Unreadable(f"`{name}` is no notebook: its JSON cannot be read.") from None
