"""Functions that list the faults of a page of the site."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LEAST_CONTRAST = 4.5  # of text over its ground, as WCAG 2 asks
# Colours are read from a canvas, which knows every way in which CSS writes them.
_PALE = """
(least) => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  canvas.canvas.width = canvas.canvas.height = 1;
  const over = (ground, colour, alpha) => {
    canvas.globalAlpha = 1; canvas.fillStyle = `rgb(${ground})`; canvas.fillRect(0, 0, 1, 1);
    canvas.globalAlpha = alpha; canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const grounds = new Map();
  const groundOf = (element) => {
    if (!element) return [255, 255, 255];
    if (!grounds.has(element)) {
      const below = groundOf(element.parentElement);
      grounds.set(element, over(below, getComputedStyle(element).backgroundColor, 1));
    }
    return grounds.get(element);
  };
  const opacityOf = (element) => element
    ? getComputedStyle(element).opacity * opacityOf(element.parentElement) : 1;
  const found = new Set(), seen = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.data.trim(), element = walk.currentNode.parentElement;
    if (!text || seen.has(element) || element.closest("svg, script, style, noscript")) continue;
    seen.add(element);
    if (!element.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    const box = element.getBoundingClientRect();
    if (box.width < 2 || box.height < 2) continue;
    const ground = groundOf(element), colour = getComputedStyle(element).color;
    const ink = light(over(ground, colour, opacityOf(element))), paper = light(ground);
    const contrast = (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
    if (contrast < least - 0.01)
      found.add(`${contrast.toFixed(2)} ${colour} on rgb(${ground}): ${text.slice(0, 40)}`);
  }
  return [...found];
}
"""


def pale(page) -> list[str]:
    """Return texts outside pictures whose contrast with their background is below 4.5."""
    return page.evaluate(_PALE, LEAST_CONTRAST)


def too_wide(page, widths: tuple[int, ...]) -> list[str]:
    """Return a sentence for every window width at which the page scrolls sideways."""
    sentences = []
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        excess = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        sentences += [f"{excess} pixels too wide at {width}"] if excess > 0 else []
    return sentences


class _Page(HTMLParser):
    """The links of a page, and the targets that links to it may name."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.targets: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src") and tag != "use" and value:
                self.links.append(value)
            if name in ("id", "name") and value:
                self.targets.add(value)


def broken_links(folder: Path) -> list[str]:
    """Return links of a folder's pages that lead to no file, or to no target in a page."""
    pages = {
        file.resolve(): _Page(file.read_text(encoding="utf-8")) for file in folder.rglob("*.html")
    }
    return [
        f"{file.relative_to(folder.resolve())}: {link}"
        for file, page in pages.items()
        for link in dict.fromkeys(page.links)
        if not _leads_somewhere(link, file, pages)
    ]


def _leads_somewhere(link: str, file: Path, pages: dict[Path, _Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True  # another host: the browser tests see that nothing is asked of it
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if not target.is_file():
        return False
    fragment = unquote(parts.fragment)
    return not fragment or target not in pages or fragment in pages[target].targets


def files_with(folder: Path, word: str) -> Iterator[Path]:
    """Yield the text files of the site that contain a word."""
    for file in folder.rglob("*"):
        if file.suffix in (".html", ".js", ".ipynb", ".css") and word in file.read_text("utf-8"):
            yield file
