"""Pictures of an SM's resources: blocks become resident until one resource is exhausted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    Picture,
    frames,
    rect,
    svg,
    text,
)

# The resources of a small SM, in portions. A block always takes one block slot.
SMALL = MappingProxyType(
    {"warp slots": 8, "block slots": 6, "registers": 16, "shared memory": 12}
)  # fmt: skip
_COLOURS = (BLUE, GREEN, PURPLE, "#b0457b", "#6b7a1f", "#9a5b2c")
_CELL, _LEFT, _TOP, _ROW = 18, 116, 30, 50
_WIDTH = 420


def blocks_that_fit(block: Mapping[str, int], sm: Mapping[str, int] = SMALL) -> dict[str, int]:
    """Return resource -> number of blocks that an SM's resource has room for, in the order of `sm`.

    block: resource -> portions that one block takes. sm: resource -> portions that the SM has. Each
    block takes one block slot in addition. A resource of which a block takes nothing is left out.
    """
    taken = {**block, "block slots": 1}
    return {name: sm[name] // taken[name] for name in sm if taken.get(name)}


def draw_rack(block: Mapping[str, int], sm: Mapping[str, int] = SMALL) -> Picture:
    """Draw the resources of an SM as blocks become resident until one does not fit, with a slider.

    The slider chooses the number of resident blocks. It starts at its final position, which marks
    the resources that have no room for another block.

    Parameters
    ----------
    block : mapping of str to int
        The portions of each resource that one block takes, by the names in `sm`. It needs an entry
        "warp slots" and none for block slots.
    sm : mapping of str to int
        The portions of each resource that the SM has.
    """
    most = min(blocks_that_fit(block, sm).values())
    drawings = [_drawing(block, blocks, sm) for blocks in range(1, most + 1)]
    drawings.append(_drawing(block, most, sm, mark_full=True))
    labels = [_blocks(blocks) for blocks in range(1, most + 1)] + ["one more"]
    return Picture(frames(drawings, labels, "blocks in the SM", start=most), _alt_text(block, sm))


def what_if_registers(
    block: Mapping[str, int], registers: Sequence[int], sm: Mapping[str, int] = SMALL
) -> Picture:
    """Draw an SM full of blocks, with a slider over the register portions that a block takes.

    block: resource -> portions that one block takes. registers: the numbers of register portions,
    one drawing each. The slider starts at that of `block`, which must be in `registers`. sm:
    resource -> portions that the SM has.
    """
    kernels = [{**block, "registers": count} for count in registers]
    drawings = [
        _drawing(one, min(blocks_that_fit(one, sm).values()), sm, mark_full=True) for one in kernels
    ]  # fmt: skip
    labels = [f"{count} portion{'s' * (count != 1)}" for count in registers]
    description = " ".join(
        f"{label}: {_blocks(min(blocks_that_fit(one, sm).values()))}."
        for one, label in zip(kernels, labels)
    )
    start = kernels.index(dict(block))
    body = frames(drawings, labels, "portions of registers that a block takes", start)
    title = "Blocks that an SM holds, by the registers that a block takes."
    return Picture(body, f"{title} {description}")


def _drawing(block: Mapping[str, int], blocks: int, sm: Mapping[str, int], mark_full=False) -> str:
    """Return an SVG of the resources of an SM with `blocks` resident blocks.

    block: resource -> portions that one block takes. sm: resource -> portions that the SM has. If
    `mark_full`, mark the resources that have no room for another block.
    """
    taken, body = {**block, "block slots": 1}, ""
    warps = blocks * block["warp slots"]
    caption = f"{_blocks(blocks)}: {warps} of {sm['warp slots']} warp slots taken"
    body += text(0, 15, caption, 14, font_weight="bold")
    for row, (name, cells) in enumerate(sm.items()):
        y, portion = _TOP + row * _ROW, taken.get(name, 0)
        full = mark_full and cells - blocks * portion < portion
        body += text(0, y + 13, name, 13)
        for cell in range(cells):
            owner = cell // portion if portion else blocks
            fill = _COLOURS[owner % len(_COLOURS)] if owner < blocks else "none"
            body += _cell(_LEFT + cell * _CELL, y, fill, owner if owner < blocks else None)
        if full:
            left = cells - blocks * portion
            why = f"{left} left, {portion} needed: no room" if left else "all taken: no room"
            style = {"style": f"fill:{ORANGE}", "font_weight": "bold"}
            edge = {"stroke": ORANGE, "stroke_width": 2}
            body += rect(_LEFT - 3, y - 3, cells * _CELL + 4, _CELL + 4, "none", rx=3, **edge)
            body += text(_LEFT, y + _CELL + 12, why, 12, **style)
    alt = f"{caption}. {_exhausted(block, sm) if mark_full else ''}".strip()
    return svg(_WIDTH, _TOP + _ROW * len(sm), body, alt, widest=520)


def _cell(x: float, y: float, fill: str, owner: int | None) -> str:
    """Return the SVG of one portion of a resource, a box with its upper left corner at (x, y).

    owner: the number of the block that has it, which is written on it, or None if it is free.
    """
    edge = {"stroke": GREY, "stroke_width": 0.8}
    box = rect(x, y, _CELL - 2, _CELL - 2, fill, rx=2, **edge)
    if owner is None:
        return box
    return box + text(x + _CELL / 2 - 1, y + 12.5, owner, 12, "middle", style="fill:#fff")


def _blocks(count: int) -> str:
    """Return a number of blocks as text, such as "1 block" or "3 blocks"."""
    return f"{count} block{'s' * (count != 1)}"


def _exhausted(block: Mapping[str, int], sm: Mapping[str, int]) -> str:
    """Return a sentence that names the resources that run out first, so that no more block fits.

    block: resource -> portions that one block takes. sm: resource -> portions that the SM has.
    """
    capacity = blocks_that_fit(block, sm)
    exhausted = [name for name, count in capacity.items() if count == min(capacity.values())]
    return f"There is no room for one more in {' and '.join(exhausted)}."


def _alt_text(block: Mapping[str, int], sm: Mapping[str, int]) -> str:
    """Return the alt text: the portions of a block, and the blocks that fit.

    block: resource -> portions that one block takes. sm: resource -> portions that the SM has.
    """
    capacity = blocks_that_fit(block, sm)
    needs = ", ".join(f"{count} of {sm[name]} {name}" for name, count in block.items() if count)
    each = ", ".join(f"{name} for {count}" for name, count in capacity.items())
    return (
        f"An SM as a rack. A block takes {needs}, and one of {sm['block slots']} block slots. "
        f"There is room in {each}. So the SM holds {_blocks(min(capacity.values()))}. "
        f"{_exhausted(block, sm)}"
    )
