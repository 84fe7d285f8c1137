"""Decode the text of a file by its byte order mark, as UTF-8, or by its coding line."""

from __future__ import annotations

import codecs
import re

# The longer marks first, because that of UTF-32 begins with that of UTF-16.
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Encodings of texts alone: a coding line must not choose a codec such as `unicode_escape`.
KNOWN = frozenset({
    "ascii", "big5", "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "koi8_r", "latin_1", "latin1",
    "l1", "mac_roman", "shift_jis", "utf_8", "utf8",
})  # fmt: skip
WINDOWS = "cp1252"  # of editors in Western Europe and America
_FAMILIES = re.compile(r"iso_?8859_\d{1,2}|(cp|windows_)125\d")
_CODING = re.compile(rb"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)  # as in PEP 263


def decoded(raw: bytes) -> str | None:
    """Return the text of a file's bytes, or None if they cannot be decoded.

    A byte order mark decides the encoding. Without a mark, UTF-8 is tried first, and then the
    encoding that the coding line names, or that of Windows if there is no such line. An encoding
    that `coding_of` does not know gives None.
    """
    marked = next((encoding for mark, encoding in MARKS.items() if raw.startswith(mark)), None)
    other = coding_of(raw) if _coding_line(raw) else WINDOWS
    for encoding in (marked,) if marked else ("utf-8", other):
        try:
            if encoding:
                return raw.decode(encoding)
        except UnicodeError:
            continue
    return None


def coding_of(raw: bytes) -> str | None:
    """Return the encoding that a file's coding line (PEP 263) names, such as `latin_1`, or None.

    The line must be one of the first two. The name is in lower case with underscores. Returns None
    if there is no such line, or if its encoding is neither one of `KNOWN` nor of the families ISO
    8859 and Windows 125x. Python's other encodings, such as cp850, give None, too.
    """
    found = _coding_line(raw)
    if found is None:
        return None
    name = found[1].decode().lower().replace("-", "_").replace(".", "_")
    return name if name in KNOWN or _FAMILIES.fullmatch(name) else None


def _coding_line(raw: bytes) -> re.Match[bytes] | None:
    """Return the match of the coding line among a file's first two lines, or None."""
    lines = re.split(rb"\r\n|\r|\n", raw[:1000], maxsplit=2)[:2]
    return next((found for line in lines if (found := _CODING.match(line))), None)
