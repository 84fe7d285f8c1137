"""The words of pictures and tables, which a program may show in another language.

They are English unless ``translate_with`` sets a translator. Findings, hints and errors are always
English, because programs search them for phrases.
"""

from __future__ import annotations

from collections.abc import Callable

Translator = Callable[..., str]


def _in_english(message: str, /, **values: object) -> str:
    """Return an English message with its placeholders filled."""
    return message.format(**values) if values else message


_translator: Translator = _in_english


def translate_with(translator: Translator | None) -> Translator:
    """Set the function that gives pictures and tables their words, and return the earlier one.

    ``translator(message, **values)`` returns a message in the reader's language. The message is a
    constant English text with a ``str.format`` placeholder per value. None stands for English.
    """
    global _translator
    earlier, _translator = _translator, translator or _in_english
    return earlier


def translate(message: str, /, **values: object) -> str:
    """Return a message in the language of the translator, with its placeholders filled."""
    return _translator(message, **values)


def counted(count: int, noun: str) -> str:
    """Return a count and its noun in the reader's language, such as ``1,024 sectors``.

    ``noun`` is English and in the singular.
    """
    return translate(f"{{number}} {noun}{'' if count == 1 else 's'}", number=f"{count:,}")
