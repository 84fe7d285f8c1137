"""From what a student handed in to pieces of Python: `.py`, `.ipynb`, or a zip of them."""

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

MOST_BYTES = 5_000_000  # of a file; a notebook with pictures has less than one million
MOST_ENTRIES = 200  # of a zip
ENDINGS = (".py", ".ipynb")
# What zipfile and its decompressors raise for a zip that is broken, encrypted (RuntimeError) or of
# a kind that it does not know (NotImplementedError).
BROKEN_ZIP = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, OSError,
    EOFError, ValueError,
)  # fmt: skip
_MAGIC = re.compile(r"^\s*(%|!|\?)")
_FUNCTION = re.compile(r"^\s*def ", re.MULTILINE)
# The name of a file in what zipfile raises.
_NAMED = re.compile(r"""<ZipInfo filename=(['"])(.*?)\1.*>|b?(['"])(.*)\3""")


class Unreadable(Exception):
    """A submission without a text; its own text is a sentence for the student."""


@dataclass(frozen=True)
class Submission:
    """What one student handed in: raw bytes by file name, nothing of it read yet.

    student: the name of the file or folder. problem: why there is nothing to read, or "".
    """

    student: str
    files: tuple[tuple[str, bytes], ...]
    problem: str = ""


def own(name: str) -> str:
    """The name of a file as it is: for a page that only its student gets."""
    return name


def neutral(name: str) -> str:
    """The name of a file without its student's: `submission.py`."""
    return f"submission{PurePosixPath(name).suffix}"


def collected(paths: list[Path], called: Callable[[str], str] = own) -> list[Submission]:
    """One submission for each file, and for each entry of each folder, by the student's name.

    A folder within a folder is one student's. Files of another kind are left out; a file that
    cannot be read is a submission with a problem. Two of the same name are told apart by a number.
    called: the name by which a submission calls a file, from the file's own.
    """
    entries: list[Path] = []
    for path in paths:
        inner = path.is_dir() and not path.is_symlink()
        entries += sorted(path.iterdir(), key=lambda one: one.name) if inner else [path]
    found, names = [], set()
    for entry in entries:
        folder = entry.is_dir() and not entry.is_symlink()
        if entry.name.startswith((".", "__")) or not (folder or _is_work(entry)):
            continue
        student = _unused(entry.name if folder else entry.stem, names)
        found.append(submission_of(student, entry, folder, called))
    return found


def _unused(name: str, names: set[str]) -> str:
    other, number = name, 2
    while other in names:
        other, number = f"{name}-{number}", number + 1
    names.add(other)
    return other


def _is_work(entry: Path) -> bool:
    return entry.suffix in (*ENDINGS, ".zip")


def submission_of(
    student: str, entry: Path, folder: bool = False, called: Callable[[str], str] = own
) -> Submission:
    """What lies in a file, or in a folder; what cannot be read is a submission with a problem."""
    files: list[tuple[str, bytes]] = []
    try:
        for path in sorted(entry.rglob("*")) if folder else [entry]:
            if _is_work(path) and not path.name.startswith("."):
                files += _files(path, called)
    except Unreadable as error:
        return Submission(student, (), str(error))
    except OSError as error:  # of the folder; those of its files are told above
        return Submission(student, (), f"The folder cannot be read: {error.strerror}.")
    if not files:
        return Submission(student, (), "The folder holds no `.py`, no `.ipynb` and no `.zip`.")
    if sum(len(raw) for _, raw in files) > MOST_BYTES:
        return Submission(student, (), _too_large("Together the files"))
    return Submission(student, tuple(files))


def _files(path: Path, called: Callable[[str], str]) -> list[tuple[str, bytes]]:
    name = called(path.name)
    raw = _bytes(path, name)
    if path.suffix != ".zip":
        return [(name, raw)]
    return [(called(inner), inside) for inner, inside in _unzipped(name, raw, called)]


def _bytes(path: Path, name: str) -> bytes:
    """A regular file's bytes: no link is followed, and no pipe or device is waited for."""
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
    """The Python files of a zip. What it says of its sizes is not believed."""
    files, left = [], MOST_BYTES
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
                    inside = file.read(left + 1)
                left -= len(inside)
                if left < 0:
                    raise Unreadable(_too_large(f"`{name}` unpacked"))
                files.append((inner.name, inside))
    except BROKEN_ZIP as error:
        why = str(error) or type(error).__name__
        why = _NAMED.sub(lambda found: f"`{called(found[2] or found[4] or '')}`", why)
        raise Unreadable(f"`{name}` is no zip that can be unpacked: {why}.") from None
    if not files:
        raise Unreadable(f"`{name}` holds no `.py` and no `.ipynb`.")
    return files


def pieces_of(name: str, raw: bytes) -> tuple[str, ...]:
    """The Python of a file; of a notebook each code cell by itself, as a student sees its lines.

    Lines of IPython (`%`, `!`) are emptied, so that all others keep their numbers.
    Raises Unreadable.
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
        return (text.replace("\r\n", "\n").replace("\r", "\n"),)
    return tuple(map(_without_magic, _cells(name, text)))


def place_of(submission: Submission, function: str) -> tuple[str, ...]:
    """In which cell or file a function is, as a sentence; none where one alone holds functions."""
    try:
        places = [place for name, raw in submission.files for place in _places(name, raw)]
    except Unreadable:
        return ()
    own = [where for where, piece in places if f"def {function}(" in piece]
    if not own or len(places) < 2:
        return ()
    return (f"`{function}` is in {' and '.join(own)}: its lines are counted there.",)


def _places(name: str, raw: bytes) -> list[tuple[str, str]]:
    """The pieces of a file that hold functions, each with its place."""
    cell = "code cell {} of " if name.endswith(".ipynb") else ""
    pieces = enumerate(pieces_of(name, raw), start=1)
    return [
        (f"{cell.format(number)}`{name}`", piece)
        for number, piece in pieces
        if _FUNCTION.search(piece)
    ]


def _cells(name: str, text: str) -> list[str]:
    """The sources of the code cells, which a notebook keeps as a text or as a list of lines."""
    try:
        cells = json.loads(text)["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Unreadable(f"`{name}` is no notebook: its JSON cannot be read.") from None


def _without_magic(code: str) -> str:
    if code.lstrip().startswith("%%"):
        return ""
    return "\n".join("" if _MAGIC.match(line) else line for line in code.splitlines())
