"""Read what a student handed in (`.py`, `.ipynb` or a zip of them) as pieces of Python.

Folders and zips are read in a child process with limits. The grading process only gets the names
and bytes of the files, and decodes none of them.
"""

from __future__ import annotations

import base64
import io
import json
import lzma
import os
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from labs.grading.child import ChildLimits, in_child
from labs.grading.decoding import decoded
from labs.grading.lines import with_newlines_alone
from labs.grading.magic_lines import magic_of, without_magic
from labs.grading.which_files import ENDINGS, MOST_NAMED, LeftOut, files_in, left_out_of

MOST_BYTES = 5_000_000  # per file; a notebook with pictures has less than one million
MOST_ENTRIES = 200  # per zip
MOST_FILES = 200  # per student
# zipfile unpacks these by pieces. It unpacks bzip2 and LZMA whole, whatever is asked for.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
PIECE = 2**16  # bytes that are unpacked at a time
# Of the child process that reads one folder or zip.
TO_READ = ChildLimits(seconds=60.0, cpu_seconds=5, memory_bytes=2**29)
# The errors that zipfile and its decompressors raise for a zip that is broken. An encrypted zip
# raises RuntimeError, and an unknown compression method raises NotImplementedError.
BROKEN_ZIP = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, RuntimeError, OSError,
    EOFError, ValueError,
)  # fmt: skip
_SUFFIX = re.compile(r"\.\w{1,5}")
_FUNCTION = re.compile(r"^\s*def ", re.MULTILINE)
_JOINERS = "\u200c\u200d"
# The name of a file in an error message of zipfile.
_NAMED = re.compile(r"""<ZipInfo filename=(['"])(.*?)\1.*>|b?(['"])(.*)\3""")


class Unreadable(Exception):
    """A submission cannot be read as text. The message is a sentence for the student."""


@dataclass(frozen=True)
class Submission:
    """The raw bytes that one student handed in, none of it parsed yet.

    name: the name of the file or folder, without a file's suffix. student: the same, with a number
    if another submission has this name. files: pairs of a file's name and its bytes. problem: a
    sentence on why there is nothing to grade, or "". left_out: the files that were not read, and
    why. folder: the name of the folder that held the file or folder.
    """

    student: str
    files: tuple[tuple[str, bytes], ...]
    problem: str = ""
    left_out: tuple[LeftOut, ...] = ()
    name: str = ""
    folder: str = ""


@dataclass
class _Files:
    """The files of one submission, collected while they are read.

    called: a function that takes a file's own name and returns the name that feedback uses.
    remaining: how many bytes may still be added; it is negative if there were too many. taken:
    pairs of a file's name and its bytes. left: a dict from the name of a file or folder that is not
    read to the reason. Names in `taken` and `left` are those that feedback uses. problems:
    sentences on files that should have been readable.
    """

    called: Callable[[str], str]
    remaining: int = MOST_BYTES
    taken: list[tuple[str, bytes]] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)  # the reason, by the name of the file
    problems: list[str] = field(default_factory=list)

    def leave(self, name: str, why: str) -> None:
        """Record in `left` that a file or folder is not read, and why.

        name: its own name, of which `called` makes the key. Once `left` has MOST_NAMED entries, all
        others share one more entry, whose key is "further files".
        """
        if len(self.left) < MOST_NAMED:
            self.left[self.called(name)] = why
        else:
            self.left["further files"] = f"More than {MOST_NAMED} are not read."

    def take(self, name: str, raw: bytes) -> None:
        """Add a file to `taken`, or, if it is empty or white space, to `left` and `problems`."""
        if raw.strip():
            self.taken.append((self.called(name), raw))
            self.remaining -= len(raw)
        else:
            self.leave(name, "It is empty.")
            self.problems.append(f"`{self.called(name)}` is empty.")


def as_bytes(text: str) -> bytes:
    """Return text as UTF-8 bytes, to be hashed; lone surrogates of file names are encoded too."""
    return text.encode(errors="surrogatepass")


def readable(name: str) -> str:
    r"""Return a file's name as text that can be encoded; bytes that are no UTF-8 become `\xe9`."""
    return as_bytes(os.fsencode(name).decode(errors="backslashreplace")).decode(errors="replace")


def printable(text: str) -> str:
    """Return a text with "?" for each character that could change what a terminal shows.

    These are the characters that Python calls not printable, such as escape codes, line ends and
    marks for the direction of writing. Spaces and the joiners in names of some languages are kept.
    """
    return "".join(one if _is_harmless(one) else "?" for one in text)


def _is_harmless(character: str) -> bool:
    """Return True for a printable character, any space, and a joiner."""
    if character.isprintable() or character in _JOINERS:
        return True
    return unicodedata.category(character) == "Zs"


def unchanged_name(name: str) -> str:
    r"""Return a file's name as text that can be encoded, for feedback that only its student gets.

    Bytes that are no UTF-8 become text such as `\xe9`.
    """
    return readable(name)


def neutral_name(name: str) -> str:
    """Return `submission` with the suffix of a file's name, such as `submission.py`.

    It replaces a file name that may hold the student's name, so an unusual suffix is left out too.
    """
    suffix = PurePosixPath(name).suffix
    return readable(f"submission{suffix if _SUFFIX.fullmatch(suffix) else ''}")


def collect(paths: list[Path], called: Callable[[str], str] = unchanged_name) -> list[Submission]:
    """Return a list of one submission per student, found at these paths.

    called: takes a file's name and returns the name that feedback uses for it. `gather` also
    returns what was not read.
    """
    return gather(paths, called)[0]


def gather(
    paths: list[Path], called: Callable[[str], str] = unchanged_name
) -> tuple[list[Submission], list[LeftOut]]:
    """Return (list of one submission per student, list of files that were not read).

    Each file in `paths`, and each file or folder in a folder of `paths`, is the work of one
    student. Folders are read in alphabetical order. A file that cannot be read becomes a submission
    with a problem. A file of a kind that the grader does not read becomes no submission, but an
    entry of the second list. If several students have one name, a number is added, as in `ann-2`.
    called: takes a file's name and returns the name that feedback uses for it.
    """
    submissions, left, names = [], [], set()
    for entry in _entries(paths):
        folder = entry.is_dir() and not entry.is_symlink()
        student = ascii(entry.stem)[1:-1]
        try:
            own = PurePosixPath(entry.name, *(["x.py"] if folder else []))
            if passed := left_out_of(own, (), (*ENDINGS, ".zip")):
                left.append(LeftOut(readable(entry.stem), called(entry.name), passed[1]))
                continue
            name = readable(entry.name if folder else entry.stem)
            student = _unused(name, names)
            submission = submission_of(student, entry, folder, called)
            held_in = readable(entry.absolute().parent.name)
            submissions.append(replace(submission, name=name, folder=held_in))
        except Exception as error:  # costs this entry alone
            problem = f"It cannot be read: {type(error).__name__}."
            submissions.append(Submission(student, (), problem))
        left += submissions[-1].left_out
    return submissions, left


def _entries(paths: list[Path]) -> Iterator[Path]:
    """Yield each path that is no folder, and the sorted entries of each folder.

    A link to a folder counts as no folder. Entries of subfolders are not among them.
    """
    for path in paths:
        is_folder = path.is_dir() and not path.is_symlink()
        yield from sorted(path.iterdir(), key=lambda one: one.name) if is_folder else [path]


def _unused(name: str, names: set[str]) -> str:
    """Return the name, with a number added if `names` has it, and add the result to `names`.

    Names that differ only in case, or in how an accent is encoded, count as the same, because they
    are one folder on the file systems of macOS and Windows.
    """
    other, number = name, 2
    while (key := unicodedata.normalize("NFC", other).casefold()) in names:
        other, number = f"{name}-{number}", number + 1
    names.add(key)
    return other


@dataclass(frozen=True)
class _Contents:
    """The contents of a file, folder or zip.

    files: pairs of a file's name and its bytes; empty if there is a problem. left: pairs of a
    file's name and why it was not read. problem: why there is nothing to grade, or "".
    """

    files: tuple[tuple[str, bytes], ...] = ()
    left: tuple[tuple[str, str], ...] = ()
    problem: str = ""


def submission_of(
    student: str, entry: Path, folder: bool = False, called: Callable[[str], str] = unchanged_name
) -> Submission:
    """Return the submission in a file or folder; if it is unusable, it has a problem and no files.

    A folder or a zip is read in a child process. student: the name for the submission. folder: True
    if `entry` is a folder. The submission of a single `.py` or `.ipynb` has no `left_out`. called:
    takes a file's name and returns the name that feedback uses for it.
    """
    try:
        apart = folder or entry.suffix.lower() == ".zip"
        contents = (_read_apart if apart else _read)(entry, folder, called)
    except Exception as error:  # also a MemoryError: it costs this submission alone
        contents = _Contents(problem=f"It cannot be read: {type(error).__name__}.")
    left = tuple(LeftOut(student, name, why) for name, why in contents.left)
    if not folder and entry.suffix.lower() in ENDINGS:
        left = ()  # the row of this one file says what is wrong with it
    return Submission(student, contents.files, contents.problem, left)


def _read_apart(entry: Path, folder: bool, called: Callable[[str], str]) -> _Contents:
    """Read an entry in a child process with the limits TO_READ, and return its contents.

    folder: True if the entry is a folder. called: takes a file's name and returns the name that
    feedback uses for it.
    """
    outcome = in_child(partial(_messages, entry, folder, called), TO_READ)
    if not outcome.messages:
        return _Contents(problem=f"It cannot be read: {outcome.problem}.")
    (message,) = outcome.messages
    files = tuple((str(name), base64.b64decode(raw)) for name, raw in message["files"])
    left = tuple((str(name), str(why)) for name, why in message["left"])
    return _Contents(files, left, str(message["unusable"]))


def _messages(entry: Path, folder: bool, called: Callable[[str], str]) -> Iterator[dict]:
    """Yield one message with the contents of an entry, as a JSON-compatible dict.

    "files" holds pairs of a file's name and its bytes in base64, "left" pairs of a file's name and
    why it was not read, and "unusable" why there is nothing to grade, or "". folder: True if the
    entry is a folder. called: takes a file's name and returns the name that feedback uses for it.
    """
    read = _read(entry, folder, called)
    files = [(name, base64.b64encode(raw).decode()) for name, raw in read.files]
    yield {"files": files, "left": read.left, "unusable": read.problem}


def _read(entry: Path, folder: bool, called: Callable[[str], str]) -> _Contents:
    """Read a file, folder or zip and return its contents. It raises nothing.

    folder: True if the entry is a folder. called: takes a file's name and returns the name that
    feedback uses for it.
    """
    files, problem = _Files(called), ""
    try:
        _read_folder(entry, files) if folder else _read_file(entry, files)
    except Unreadable as error:  # beyond the limits; errors of single files are handled there
        problem = str(error)
    except OSError as error:
        problem = f"The folder cannot be read: {error.strerror}."
    except Exception as error:  # also a MemoryError: it costs this submission alone
        problem = f"It cannot be read: {type(error).__name__}."
    if not files.taken:
        problem = problem or " ".join(files.problems) or _nothing_in_the_folder(files)
    return _Contents(() if problem else tuple(files.taken), tuple(files.left.items()), problem)


def _nothing_in_the_folder(files: _Files) -> str:
    """Return sentences on a folder without readable files, with up to three of its files."""
    held = ", ".join(f"`{name}`" for name in list(files.left)[:3])
    also = f" It holds {held}." if held else ""
    return f"The folder holds no `.py`, no `.ipynb` and no `.zip`.{also}"


def _read_folder(folder: Path, files: _Files) -> None:
    """Add the contents of all files of a student's folder to `files`.

    Files of other kinds, and files that cannot be read, are recorded in `files` with the reason and
    do not affect the others. Raises Unreadable for too many files or too many bytes.
    """
    paths = list(files_in(folder))
    beside = frozenset(paths)
    for path in paths:
        passed = left_out_of(path, beside, (*ENDINGS, ".zip"))
        if passed:
            files.leave(str(passed[0]), passed[1])
        else:
            _read_file(folder / path, files)
        if files.remaining < 0:
            raise Unreadable(_too_large("Together the files"))
        if len(files.taken) > MOST_FILES:
            raise Unreadable(f"There are more than {MOST_FILES} files: hand in fewer.")


def _read_file(path: Path, files: _Files) -> None:
    """Add a file, or the files in a zip, to `files`; if it cannot be read, record that there."""
    name = files.called(path.name)
    try:
        raw = _read_bytes(path, name)
        if path.suffix.lower() == ".zip":
            _unzip(name, raw, files)
        else:
            files.take(path.name, raw)
    except Unreadable as error:
        files.leave(path.name, str(error))
        files.problems.append(str(error))


def _read_bytes(path: Path, name: str) -> bytes:
    """Return the bytes of a regular file.

    Raises Unreadable for a file that is too large or cannot be opened, for a link, and for a pipe
    or device, which might block. name: the file's name in messages.
    """
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
    """Return a sentence on files that are too large. what: its subject, such as "`work.py`"."""
    verb = "have" if what.endswith("s") else "has"
    return (
        f"{what} {verb} more than {MOST_BYTES // 10**6} MB: hand in the source alone, a notebook "
        "without its outputs."
    )


def _unzip(name: str, raw: bytes, files: _Files) -> None:
    """Add the Python files in a zip to `files`, without trusting the sizes that the zip states.

    name: the zip's name in messages. raw: the zip's bytes. Raises Unreadable, and adds no file, for
    a zip that is broken, too large or without Python.
    """
    inner = _Files(files.called)
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            entries = _entries_to_read(name, archive, inner)
            for path, entry in entries:
                if entry.compress_type not in METHODS:
                    raise Unreadable(
                        f"`{name}` is packed by another method than deflate: make a usual zip of "
                        "your files."
                    )
                with archive.open(entry) as file:
                    inside = _at_most(file, inner.remaining)
                if inside is None:
                    raise Unreadable(_too_large(f"`{name}` unpacked"))
                inner.take(path.name, inside)
    except BROKEN_ZIP as error:
        reason = str(error) or type(error).__name__
        reason = _NAMED.sub(lambda found: f"`{files.called(found[2] or found[4] or '')}`", reason)
        raise Unreadable(f"`{name}` is no zip that can be unpacked: {reason}.") from None
    files.left |= inner.left
    files.problems += inner.problems
    files.taken += inner.taken
    files.remaining -= MOST_BYTES - inner.remaining
    if not entries:
        raise Unreadable(f"`{name}` holds no `.py` and no `.ipynb`.")


def _at_most(file: BinaryIO, most: int) -> bytes | None:
    """Return the bytes of a file in an archive, or None if there are more than `most` of them."""
    read = bytearray()
    while piece := file.read(PIECE):
        read += piece
        if len(read) > most:
            return None
    return bytes(read)


def _entries_to_read(
    name: str, archive: zipfile.ZipFile, files: _Files
) -> list[tuple[PurePosixPath, zipfile.ZipInfo]]:
    """Return pairs of path and entry for the files in a zip that are a student's work.

    All other files are recorded in `files` as not read. name: the zip's name in messages. Raises
    Unreadable for too many entries.
    """
    entries = [(PurePosixPath(entry.filename), entry) for entry in archive.infolist()]
    if len(entries) > MOST_ENTRIES:
        raise Unreadable(f"`{name}` holds more than {MOST_ENTRIES} files.")
    beside, to_read = frozenset(path for path, _ in entries), []
    for path, entry in entries:
        passed = None if entry.is_dir() else left_out_of(path, beside, ENDINGS)
        if passed:
            files.leave(str(passed[0]), passed[1])
        elif not entry.is_dir():
            to_read.append((path, entry))
    return to_read


def pieces_of(name: str, raw: bytes) -> tuple[str, ...]:
    """Return a file's Python texts: one, or one per code cell of a notebook, in order.

    In a cell, IPython's lines (`%`, `!`) are replaced, and all others keep their numbers. A cell
    that IPython does not run as Python is "". name: the file's name; a notebook ends with `.ipynb`.
    raw: the file's bytes. Raises Unreadable if the file cannot be decoded, is empty, has NUL bytes,
    or ends with `.ipynb` and is no notebook.
    """
    text = _text_of(name, raw)
    if not name.lower().endswith(".ipynb"):
        return (with_newlines_alone(text),)
    return tuple(without_magic(with_newlines_alone(cell)) for cell in _cells(name, text))


def unread_cells(name: str, raw: bytes) -> list[tuple[str, str]]:
    """Return (magic, text) for each cell of a notebook that IPython does not run as Python.

    The magic is, for example, `%%writefile`. The list is empty for a file that is no notebook.
    Raises Unreadable if the notebook cannot be read.
    """
    if not name.lower().endswith(".ipynb"):
        return []
    cells = [with_newlines_alone(cell) for cell in _cells(name, _text_of(name, raw))]
    return [(magic, cell) for cell in cells if (magic := magic_of(cell))]


def _text_of(name: str, raw: bytes) -> str:
    """Return the text of a file. Raises Unreadable if it is not decodable, empty or has NULs."""
    text = decoded(raw)
    if text is None:
        raise Unreadable(
            f"`{name}` is not UTF-8, and its first two lines name no other encoding that the "
            "grader knows: save it as UTF-8."
        )
    if not text.strip():
        raise Unreadable(f"`{name}` is empty.")
    if "\0" in text:
        raise Unreadable(f"`{name}` holds NUL bytes: it is no text.")
    return text


def location_of(submission: Submission, function: str) -> tuple[str, ...]:
    """Return a tuple of one sentence that says which cells or files define a function.

    The tuple is empty if no cell or file defines it. It is also empty if the submission has
    functions in only one cell or file, because line numbers are then clear. function: the
    function's name.
    """
    locations = [place for name, raw in submission.files for place in _locations(name, raw)]
    own_locations = [where for where, piece in locations if f"def {function}(" in piece]
    if not own_locations or len(locations) < 2:
        return ()
    return (f"`{function}` is in {' and '.join(own_locations)}: its lines are counted there.",)


def _locations(name: str, raw: bytes) -> list[tuple[str, str]]:
    """Return pairs of location and Python text for the pieces of a file that hold functions.

    A location is the file's name in backticks, for a notebook with the cell: "code cell 2 of
    `work.ipynb`". The list is empty for a file that cannot be read.
    """
    cell = "code cell {} of " if name.lower().endswith(".ipynb") else ""
    try:
        pieces = enumerate(pieces_of(name, raw), start=1)
    except Unreadable:  # it does not cost the files beside it
        return []
    return [
        (f"{cell.format(number)}`{name}`", piece)
        for number, piece in pieces
        if _FUNCTION.search(piece)
    ]


def _cells(name: str, text: str) -> list[str]:
    """Return the texts of a notebook's code cells, in order.

    A notebook stores a cell's text as a string or a list of lines. Up to format 3, a notebook has
    its cells in worksheets, and their code is called `input`. name: the file's name in messages.
    text: the notebook's JSON. Raises Unreadable if the JSON is not that of a notebook.
    """
    try:
        notebook = json.loads(text)
        sheets = [notebook] if "cells" in notebook else notebook["worksheets"]
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
        codes = [cell for cell in cells if cell["cell_type"] == "code"]
        return ["".join(cell["source" if "source" in cell else "input"]) for cell in codes]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Unreadable(f"`{name}` is no notebook: its JSON cannot be read.") from None
