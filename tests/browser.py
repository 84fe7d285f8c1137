"""A page in a real browser, and what it logs and asks other hosts for."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
NEEDED = "COURSE_NEEDS_BROWSER"
EVERYTHING = "COURSE_NEEDS_EVERYTHING"
MISSING = (
    "This test needs Chromium on PATH and the package playwright: install them, or leave "
    f"{NEEDED} unset to skip it."
)


@dataclass
class Shown:
    """A page that is open. messages: of its console, and errors; asked: addresses, without data."""

    page: object
    messages: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        """The words of the first element, as they are seen."""
        return self.page.locator(selector).first.inner_text()

    @property
    def overflow(self) -> int:
        """By how many pixels the page is wider than its window."""
        return self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


class Browser:
    """Opens fragments of HTML as pages; ``close_pages`` ends them."""

    def __init__(self, chromium):
        self._chromium = chromium

    def open(self, fragment: str, width: int = 1000, html: str = "", **context) -> Shown:
        """fragment: HTML of a body. html: attributes of the page. context: of playwright."""
        shown = Shown(self.new_page(width, **context))
        shown.page.on("console", lambda message: shown.messages.append(message.text))
        shown.page.on("pageerror", lambda error: shown.messages.append(str(error)))
        shown.page.on("request", lambda request: _note(shown, request.url))
        shown.page.set_content(
            f'<!doctype html><html lang="en" {html}><meta charset="utf-8"><body>{fragment}</body>'
        )
        return shown

    def new_page(self, width: int = 1000, **context):
        """An empty page of playwright, with cookies of its own."""
        viewport = {"width": width, "height": 900}
        return self._chromium.new_context(viewport=viewport, **context).new_page()

    def close_pages(self) -> None:
        for context in self._chromium.contexts:
            context.close()


def _note(shown: Shown, address: str) -> None:
    if not address.startswith("data:"):
        shown.asked.append(address)


@contextmanager
def chromium() -> Iterator[Browser]:
    """The system's Chromium. Without one the test is skipped; where COURSE_NEEDS_BROWSER or
    COURSE_NEEDS_EVERYTHING is 1, it fails."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        found = None
    if found is None:
        promised = "1" in map(os.environ.get, (NEEDED, EVERYTHING))
        (pytest.fail if promised else pytest.skip)(MISSING)
    with sync_playwright() as tools:
        started = tools.chromium.launch(executable_path=found)
        yield Browser(started)
        started.close()
