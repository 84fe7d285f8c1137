"""The idea of double buffering before any code: what is on its way while a block multiplies.

Two pictures: tiles that come from global memory, and steps whose words come from shared memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    Picture,
    legend,
    path,
    rect,
    svg,
    text,
)

TILES, STEPS = 3, 4  # that are drawn
SMALL = 8  # steps of k in a tile
# Units of time, not to scale: a load from global memory takes longer than drawn here.
LOAD, PUT, MULTIPLY = 44, 7, 48
READ, OUTER = 14, 24  # a step's words from shared memory; its multiply-adds
DARK_GREEN = "#066044"
# As in the strip of machine code (`turn_strip`): loads from global and from shared memory, stores.
COLOURS = {"loads": BLUE, "reads": PURPLE, "stores": ORANGE}
SIDES = (GREEN, DARK_GREEN)  # both are multiply-adds
LEFT, WIDTH, BAR, ROW, PANEL = 84, 416, 20, 26, 122
NAMED = 40  # a gap that has room for its name


@dataclass(frozen=True)
class Bar:
    """Something that lasts: on which of the two tracks, from when to when, and of which number.

    side: of the two buffers the one that is read or filled; None for a load on its way.
    """

    track: str
    begin: int
    end: int
    number: int
    side: int | None = None


@dataclass(frozen=True)
class Time:
    """What a block does: bars, and the moments of its barriers."""

    bars: tuple[Bar, ...]
    barriers: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        return max(bar.end for bar in self.bars)


def tiles_with_one_buffer() -> Time:
    """Load, store into shared memory, barrier, multiply, barrier; then the next tile."""
    bars, barriers, now = [], [], 0
    for tile in range(TILES):
        come, put = now + LOAD, now + LOAD + PUT
        bars += [Bar("loads", now, come, tile), Bar("stores", come, put, tile, 0)]
        now = put + MULTIPLY
        bars.append(Bar("multiply-adds", put, now, tile, 0))
        barriers += [put, now]
    return Time(tuple(bars), tuple(barriers))


def tiles_with_two_buffers() -> Time:
    """A turn begins the load of the next tile, multiplies this one, and stores the next one."""
    now = LOAD + PUT
    bars = [Bar("loads", 0, LOAD, 0), Bar("stores", LOAD, now, 0, 0)]
    barriers = [now]
    for tile in range(TILES):
        side, done = tile % 2, now + MULTIPLY
        bars.append(Bar("multiply-adds", now, done, tile, side))
        if tile + 1 < TILES:
            bars.append(Bar("loads", now, now + LOAD, tile + 1))
            bars.append(Bar("stores", done, done + PUT, tile + 1, 1 - side))
            now = done + PUT
            barriers.append(now)
    return Time(tuple(bars), tuple(barriers))


def steps_with_one_set() -> Time:
    """The words of a step are read, then multiplied; then those of the next step."""
    bars, now = [], 0
    for step in range(STEPS):
        bars.append(Bar("reads", now, now + READ, step))
        bars.append(Bar("multiply-adds", now + READ, now + READ + OUTER, step, 0))
        now += READ + OUTER
    return Time(tuple(bars))


def steps_with_two_sets() -> Time:
    """While a step is multiplied the words of the next one are read."""
    bars, now = [Bar("reads", 0, READ, 0)], READ
    for step in range(STEPS):
        bars.append(Bar("multiply-adds", now, now + OUTER, step, step % 2))
        if step + 1 < STEPS:
            bars.append(Bar("reads", now, now + READ, step + 1))
        now += OUTER
    return Time(tuple(bars))


def draw_tiles() -> Picture:
    """The big loop: three tiles with one buffer, and with two."""
    ways = {
        "one buffer, two barriers for each tile": tiles_with_one_buffer(),
        "two buffers, one barrier for each tile": tiles_with_two_buffers(),
    }
    alt = (
        f"Time lines of a block that multiplies {TILES} tiles, {SMALL} steps of k each. With one "
        "buffer it loads a tile, stores it, multiplies it, and only then loads the next one. With "
        "two buffers the next tile is on its way while this one is multiplied, and the block is "
        "done earlier. Not to scale."
    )
    key = legend(tile_on_its_way=BLUE, store_into_shared_memory=ORANGE)
    key += legend(multiply_from_side_0=GREEN, multiply_from_side_1=DARK_GREEN)
    return _picture(ways, ("loads", "multiply-adds"), "tile", SMALL, key, alt)


def draw_steps() -> Picture:
    """The small loop: four steps with one set of registers, and with two."""
    ways = {
        "one set of registers": steps_with_one_set(),
        "two sets of registers": steps_with_two_sets(),
    }
    alt = (
        f"Time lines of a warp for {STEPS} steps of k. With one set of registers it reads the "
        "words of a step from shared memory, waits, and multiplies them. With two sets it reads "
        "those of the next step while it multiplies, and is done earlier. Not to scale."
    )
    key = legend(words_on_their_way=PURPLE, multiply_from_set_0=GREEN, from_set_1=DARK_GREEN)
    return _picture(ways, ("reads", "multiply-adds"), "step", 1, key, alt)


def _picture(
    ways: Mapping[str, Time], tracks: tuple[str, str], what: str, parts: int, key: str, alt: str
) -> Picture:
    scale = (WIDTH - LEFT - 34) / max(time.end for time in ways.values())
    panels = [_panel(name, time, tracks, what, parts, scale) for name, time in ways.items()]
    body = "".join(
        f'<g transform="translate(0 {PANEL * place})">{panel}</g>'
        for place, panel in enumerate(panels)
    )
    return Picture(key + svg(WIDTH, PANEL * len(ways) - 4, body, alt, widest=1.3 * WIDTH), alt)


def _panel(
    name: str, time: Time, tracks: tuple[str, str], what: str, parts: int, scale: float
) -> str:
    """Both tracks over time. what: a bar's number counts. parts: of a bar of multiply-adds."""
    top = dict(zip(tracks, (28, 28 + ROW), strict=True))
    body = text(0, 16, name, 13, font_weight="bold")
    for track, y in top.items():
        body += text(0, y + 14, track, 12)
        body += path(f"M{LEFT} {y + BAR}H{WIDTH - 4}", opacity=0.3)
    for bar in time.bars:
        x, width = round(LEFT + bar.begin * scale, 1), round((bar.end - bar.begin) * scale - 1, 1)
        # The threads that load a tile store it, too, and multiply nothing meanwhile.
        y = top.get(bar.track, top[tracks[0]])
        body += rect(x, y, width, BAR - 1, _colour(bar))
        if bar.track == "multiply-adds":
            body += _parts(x, y, width, parts)
        if bar.track != "stores":
            label = f"{what} {bar.number}" if width > 40 else bar.number
            body += text(x + width / 2, y + 13, label, 12, "middle", style="fill:#fff")
    for begin, end in waits(time, round(NAMED / scale)):
        middle = LEFT + (begin + end) / 2 * scale
        body += text(round(middle, 1), top["multiply-adds"] + 14, "waits", 12, "middle")
    bottom = 28 + 2 * ROW
    for moment in time.barriers:
        x = round(LEFT + moment * scale, 1)
        body += path(f"M{x} 24V{bottom + 4}", stroke_dasharray="3 2", stroke_width=1.5)
    if time.barriers:
        body += text(LEFT, bottom + 18, "dashed: barrier", 12)
    end = round(LEFT + time.end * scale, 1)
    body += path(f"M{end} {bottom - 4}V{bottom + 6}")
    return body + text(end, bottom + 18, "done", 12, "middle")


def waits(time: Time, shortest: int) -> list[tuple[int, int]]:
    """From when to when nothing is multiplied, where that is at least so long."""
    busy = sorted((bar.begin, bar.end) for bar in time.bars if bar.track == "multiply-adds")
    ends = [0, *(end for _, end in busy)]
    gaps = [(end, begin) for end, (begin, _) in zip(ends, busy)]
    return [gap for gap in gaps if gap[1] - gap[0] >= shortest]


def _colour(bar: Bar) -> str:
    return SIDES[bar.side] if bar.track == "multiply-adds" else COLOURS[bar.track]


def _parts(x: float, y: float, width: float, parts: int) -> str:
    """Notches at the foot of a bar, between its equal parts."""
    marks = "".join(f"M{x + width * at / parts:.1f} {y + BAR - 1}v-5" for at in range(1, parts))
    return path(marks, stroke="#fff", stroke_width=1) if marks else ""
