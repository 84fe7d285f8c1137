"""Pictures of a block's reduction tree: threads, words, warps and banks, step by step.

A small block stands for a real one: 16 words, and warps of 4 lanes with 4 banks.
"""

from __future__ import annotations

from collections.abc import Callable

from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    PURPLE,
    Picture,
    path,
    rect,
    svg,
    text,
)

WORDS, WARP = 16, 4
CRIMSON = "#ba4e65"  # of warp 1 in a movie of two warps; orange would mean a bank conflict
WARPS = {"warp 0": BLUE, "warp 1": CRIMSON, "warp 2": GREEN, "warp 3": PURPLE}
SIZE, ROW = 19, 50  # in pixels: a word, and the least distance between rows of words
_LEFT, _KEY, _TOP, _RIGHT = 46, 24, 50, 96  # _KEY: the top of the legend below the title
_WHITE = {"style": "fill:#fff"}

Addition = tuple[int, int, int]  # (thread, index of the target word, index of the added word)
Step = tuple[Addition, ...]
Tree = Callable[[int], tuple[Step, ...]]


def neighbours(words: int) -> tuple[Step, ...]:
    """Return the steps of the tree of reduce0 over `words` words, a power of two.

    Each step is a tuple of additions (thread, index of the target word, index of the added word). A
    thread adds to the word whose index is its own number. The distance of the two words doubles per
    step, from 1 on.
    """
    strides = [1 << step for step in range(words.bit_length() - 1)]
    return tuple(
        tuple((word, word, word + stride) for word in range(0, words, 2 * stride))
        for stride in strides
    )


def neighbouring_threads(words: int) -> tuple[Step, ...]:
    """Return the steps of the tree of reduce1: the additions of reduce0, by consecutive threads.

    Each step is a tuple of additions (thread, index of the target word, index of the added word).
    words: their number, a power of two.
    """
    return tuple(
        tuple((thread, left, right) for thread, (_, left, right) in enumerate(step))
        for step in neighbours(words)
    )


def halves(words: int) -> tuple[Step, ...]:
    """Return the steps of the tree of reduce2: the upper half of the words is added to the lower.

    Each step is a tuple of additions (thread, index of the target word, index of the added word).
    The number of words halves per step, from `words`, a power of two, on.
    """
    strides = [words >> step for step in range(1, words.bit_length())]
    return tuple(tuple((word, word, word + stride) for word in range(stride)) for stride in strides)


def warps_of(step: Step, warp: int = WARP) -> list[int]:
    """Return the numbers of the warps with at least one thread that adds in a step, ascending.

    `warp` is the number of threads per warp.
    """
    return sorted({thread // warp for thread, _, _ in step})


def wavefronts_of(step: Step, warp: int = WARP) -> int:
    """Count the wavefronts in which the threads that add in a step load their target words.

    The count is the sum over all warps. `warp` is the number of lanes per warp, and of banks.
    """
    total = 0
    for number in warps_of(step, warp):
        words = [left for thread, left, _ in step if thread // warp == number]
        total += max(sum(word % warp == bank for word in words) for bank in range(warp))
    return total


def draw_tree(tree: Tree, title: str) -> Picture:
    """Draw a tree over 16 words, with the numbers of warps and threads that add in each step.

    tree: a function such as `halves`, from the number of words to the steps.
    """
    return Picture(*_tree(tree, title, banks=False))


def draw_trees(**trees: Tree) -> Picture:
    """Draw trees over 16 words side by side, with the banks of the words.

    Next to each step are the number of warps that add and the wavefronts in which they load their
    target words. A tree is a function such as `halves`, from the number of words to the steps. The
    keywords are the names that the reader sees, with _ for spaces.
    """
    drawn, alts = zip(*(_tree(tree, name.replace("_", " "), True) for name, tree in trees.items()))
    row = f'<div class="row" style="align-items:start">{"".join(drawn)}</div>'
    return Picture(row, " ".join(alts))


def _key(steps: tuple[Step, ...]) -> str:
    """Return SVG of the legend of the warps that add in at least one step."""
    added = {warp for step in steps for warp in warps_of(step)}
    drawn, x = "", 0
    for warp, (name, colour) in enumerate(WARPS.items()):
        if warp in added:
            drawn += rect(x, _KEY, 12, 12, colour, rx=3) + text(x + 17, _KEY + 10.5, name, 12)
            x += 74
    return drawn


def _tree(tree: Tree, title: str, banks: bool) -> tuple[str, str]:
    """Return (SVG of a tree with its title, its legend and its steps, alt text).

    banks: True to number the banks of the words, and to say the wavefronts of each step.
    """
    steps = tree(WORDS)
    body = text(0, 14, title, 14, font_weight="bold") + _key(steps)
    body += "".join(_word(_TOP, word, word) for word in range(WORDS))
    body += text(_x(WORDS) + 4, _TOP + 12.5, "words", 12)
    top = _TOP
    for row, step in enumerate(steps):
        begin = top + SIZE + (14 if banks and row == 0 else 2)
        top += _down(step)
        body += "".join(_addition(begin, top, *one) for one in step)
        body += text(0, top + 12.5, f"step {row + 1}", 12) + _step_text(top, step, banks)
    if banks:
        y = _TOP + SIZE + 10
        body += "".join(
            text(_x(word) + SIZE / 2 - 1, y, word % WARP, 10, "middle", opacity=0.75)
            for word in range(WORDS)
        )
        body += text(_x(WORDS) + 4, y, "bank", 11, opacity=0.75)
    width, height = _x(WORDS) + _RIGHT, top + SIZE + 4
    alt = f"{title}: {_in_words(steps, banks)}"
    return svg(width, height, body, alt, widest=1.3 * width), alt


def _down(step: Step) -> float:
    """Return the height in pixels of a step's row, which is larger if many long lines cross."""
    _, left, right = step[0]
    return ROW + (right - left) * len(step) / 2


def _x(word: int) -> float:
    return _LEFT + word * SIZE


def _word(top: float, word: int, label: object) -> str:
    """Return SVG of the box of an initial word, with `label` in it; `word` is its index."""
    box = rect(_x(word), top, SIZE - 2, SIZE - 2, "none", stroke=GREY, stroke_width=1)
    return box + text(_x(word) + SIZE / 2 - 1, top + 12.5, label, 11, "middle")


def _addition(begin: float, top: float, thread: int, left: int, right: int) -> str:
    """Return SVG of an addition: a line from each of two words to a box with the thread's number.

    The lines begin at y = `begin`, and the top of the box is at y = `top`. `left` is the index of
    the target word, and `right` that of the added word.
    """
    colour = list(WARPS.values())[thread // WARP]
    end, middle = top - 3, SIZE / 2 - 1
    drawn = path(f"M{_x(left) + middle:g} {begin:g}V{end:g}", stroke=colour, stroke_width=1.5)
    slope = f"M{_x(right) + middle:g} {begin:g}L{_x(left) + middle:g} {end:g}"
    drawn += path(slope, stroke=colour, stroke_width=1, opacity=0.7)
    drawn += rect(_x(left), top, SIZE - 2, SIZE - 2, colour, rx=3)
    return drawn + text(_x(left) + middle, top + 12.5, thread, 11, "middle", **_WHITE)


def _step_text(top: float, step: Step, banks: bool) -> str:
    busy = len(warps_of(step))
    x = _x(WORDS) + 4
    body = text(x, top + 5, f"{busy} warps add" if busy > 1 else "1 warp adds", 12)
    if banks:
        fronts = wavefronts_of(step)
        return body + text(x, top + 20, f"{fronts} wavefront{'s' * (fronts > 1)}", 12)
    return body + text(x, top + 20, f"{len(step)} of {WORDS} threads", 12)


def _in_words(steps: tuple[Step, ...], banks: bool) -> str:
    descriptions = []
    for number, step in enumerate(steps, start=1):
        threads = ", ".join(str(thread) for thread, _, _ in step)
        busy = len(warps_of(step))
        description = f"in step {number} the threads {threads} add, {busy} of 4 warps"
        if banks:
            description += f", wavefronts for a load: {wavefronts_of(step)}"
        descriptions.append(description)
    return "; ".join(descriptions) + "."
