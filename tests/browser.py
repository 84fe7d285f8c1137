"""Pages in a real browser, with their console messages and network requests."""

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
    """An open page.

    messages: of its console, and errors. asked: addresses that it requested, without data URLs.
    """

    page: object
    messages: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        """Return the visible text of the first element that matches the selector."""
        return self.page.locator(selector).first.inner_text()

    @property
    def overflow(self) -> int:
        """The number of pixels by which the page is wider than its window."""
        return self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")


class Browser:
    """Opens HTML fragments as pages; ``close_pages`` closes them."""

    def __init__(self, chromium):
        self._chromium = chromium

    def open(self, fragment: str, width: int = 1000, html: str = "", **context) -> Shown:
        """Open HTML as a page.

        fragment: HTML of the body. html: attributes of the root element. context: options of
        playwright's browser context.
        """
        shown = Shown(self.new_page(width, **context))
        shown.page.on("console", lambda message: shown.messages.append(message.text))
        shown.page.on("pageerror", lambda error: shown.messages.append(str(error)))
        shown.page.on("request", lambda request: _note(shown, request.url))
        shown.page.set_content(
            f'<!doctype html><html lang="en" {html}><meta charset="utf-8"><body>{fragment}</body>'
        )
        return shown

    def new_page(self, width: int = 1000, **context):
        """Return an empty playwright page with its own cookies."""
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
    """Yield the system's Chromium.

    Without one, skip the test, or fail if COURSE_NEEDS_BROWSER or COURSE_NEEDS_EVERYTHING is 1.
    """
    program = next(filter(None, map(shutil.which, NAMES)), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        program = None
    if program is None:
        promised = "1" in map(os.environ.get, (NEEDED, EVERYTHING))
        (pytest.fail if promised else pytest.skip)(MISSING)
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=program)
        yield Browser(browser)
        browser.close()
