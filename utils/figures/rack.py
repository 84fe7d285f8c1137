"""An SM as a rack: blocks are put into it until one resource has no room for another."""

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

# A small SM, in portions of each resource. A block always takes one block slot.
SMALL = MappingProxyType(
    {"warp slots": 8, "block slots": 6, "registers": 16, "shared memory": 12}
)  # fmt: skip
_COLOURS = (BLUE, GREEN, PURPLE, "#b0457b", "#6b7a1f", "#9a5b2c")
_CELL, _LEFT, _TOP, _ROW = 18, 116, 30, 50
_WIDTH = 420


def room_of(block: Mapping[str, int], sm: Mapping[str, int] = SMALL) -> dict[str, int]:
    """For how many blocks each resource has room. What a block does not take is left out."""
    taken = {**block, "block slots": 1}
    return {name: sm[name] // taken[name] for name in sm if taken.get(name)}


def draw_rack(block: Mapping[str, int], sm: Mapping[str, int] = SMALL) -> Picture:
    """Blocks are put into an SM one after the other, with a slider; the last does not fit.

    It starts with the last.

    block: the portions that one takes of each resource, by the names of `sm`.
    """
    most = min(room_of(block, sm).values())
    drawings = [_drawing(block, placed, sm) for placed in range(1, most + 1)]
    drawings.append(_drawing(block, most, sm, tried=True))
    labels = [_blocks(placed) for placed in range(1, most + 1)] + ["one more"]
    return Picture(frames(drawings, labels, "blocks in the SM", start=most), _told(block, sm))


def what_if_registers(
    block: Mapping[str, int], registers: Sequence[int], sm: Mapping[str, int] = SMALL
) -> Picture:
    """The full rack for blocks that take more and more portions of registers, with a slider.

    It starts with `block` itself, which must be one of them.
    """
    kernels = [{**block, "registers": count} for count in registers]
    drawings = [
        _drawing(one, min(room_of(one, sm).values()), sm, tried=True) for one in kernels
    ]  # fmt: skip
    labels = [f"{count} portion{'s' * (count != 1)}" for count in registers]
    told = " ".join(
        f"{label}: {_blocks(min(room_of(one, sm).values()))}."
        for one, label in zip(kernels, labels)
    )
    start = kernels.index(dict(block))
    body = frames(drawings, labels, "portions of registers that a block takes", start)
    return Picture(body, f"Blocks that an SM holds, by the registers that a block takes. {told}")


def _drawing(block: Mapping[str, int], placed: int, sm: Mapping[str, int], tried=False) -> str:
    """The rack with so many blocks. tried: whether what has no room for one more is marked."""
    taken, body = {**block, "block slots": 1}, ""
    warps = placed * block["warp slots"]
    said = f"{_blocks(placed)}: {warps} of {sm['warp slots']} warp slots taken"
    body += text(0, 15, said, 14, font_weight="bold")
    for row, (name, cells) in enumerate(sm.items()):
        y, portion = _TOP + row * _ROW, taken.get(name, 0)
        full = tried and cells - placed * portion < portion
        body += text(0, y + 13, name, 13)
        for cell in range(cells):
            owner = cell // portion if portion else placed
            fill = _COLOURS[owner % len(_COLOURS)] if owner < placed else "none"
            body += _cell(_LEFT + cell * _CELL, y, fill, owner if owner < placed else None)
        if full:
            left = cells - placed * portion
            why = f"{left} left, {portion} needed: no room" if left else "all taken: no room"
            style = {"style": f"fill:{ORANGE}", "font_weight": "bold"}
            edge = {"stroke": ORANGE, "stroke_width": 2}
            body += rect(_LEFT - 3, y - 3, cells * _CELL + 4, _CELL + 4, "none", rx=3, **edge)
            body += text(_LEFT, y + _CELL + 12, why, 12, **style)
    alt = f"{said}. {_room(block, sm) if tried else ''}".strip()
    return svg(_WIDTH, _TOP + _ROW * len(sm), body, alt, widest=520)


def _cell(x: float, y: float, fill: str, owner: int | None) -> str:
    edge = {"stroke": GREY, "stroke_width": 0.8}
    box = rect(x, y, _CELL - 2, _CELL - 2, fill, rx=2, **edge)
    if owner is None:
        return box
    return box + text(x + _CELL / 2 - 1, y + 12.5, owner, 12, "middle", style="fill:#fff")


def _blocks(count: int) -> str:
    return f"{count} block{'s' * (count != 1)}"


def _room(block: Mapping[str, int], sm: Mapping[str, int]) -> str:
    room = room_of(block, sm)
    out = [name for name, count in room.items() if count == min(room.values())]
    return f"There is no room for one more in {' and '.join(out)}."


def _told(block: Mapping[str, int], sm: Mapping[str, int]) -> str:
    room = room_of(block, sm)
    needs = ", ".join(f"{count} of {sm[name]} {name}" for name, count in block.items() if count)
    each = ", ".join(f"{name} for {count}" for name, count in room.items())
    return (
        f"An SM as a rack. A block takes {needs}, and one of {sm['block slots']} block slots. "
        f"There is room in {each}. So the SM holds {_blocks(min(room.values()))}. "
        f"{_room(block, sm)}"
    )
