"""Pictures of double buffering: the loads in flight while a block multiplies.

There are two pictures: tiles that come from global memory, and steps whose words come from shared
memory.
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

TILES, STEPS = 3, 4  # drawn tiles, and drawn steps
SMALL = 8  # steps of k per tile
# Units of time, not to scale: a load from global memory takes longer than drawn here.
LOAD, PUT, MULTIPLY = 44, 7, 48
READ, OUTER = 14, 24  # reading a step's words from shared memory; its multiply-adds
DARK_GREEN = "#066044"
# The colours of `instruction_timeline`: global loads, shared loads, shared stores.
COLOURS = {"loads": BLUE, "reads": PURPLE, "stores": ORANGE}
BUFFER_COLOURS = (GREEN, DARK_GREEN)  # multiply-adds from buffer 0, and from buffer 1
LEFT, WIDTH, BAR, ROW, PANEL = 84, 416, 20, 26, 122
LABEL_WIDTH = 40  # the width of a gap that has room for a label


@dataclass(frozen=True)
class Activity:
    """An activity of a block or a warp, for one tile or step, from `begin` to `end`.

    The times have the drawing's unit. `track` is "loads", "stores", "reads" or "multiply-adds", and
    `number` the index of the tile or step. `buffer` is the index, 0 or 1, of the buffer that
    is filled or multiplied, or of the register set that is multiplied; None for loads and reads.
    """

    track: str
    begin: int
    end: int
    number: int
    buffer: int | None = None


@dataclass(frozen=True)
class Schedule:
    """The schedule of a block or a warp.

    bars: its activities. barriers: the times of its barriers, in the drawing's unit.
    """

    bars: tuple[Activity, ...]
    barriers: tuple[int, ...] = ()

    @property
    def end(self) -> int:
        """The time at which the last activity ends."""
        return max(bar.end for bar in self.bars)


def tiles_loaded_late() -> Schedule:
    """Return the schedule of a block that loads, stores and multiplies one tile after the other."""
    bars, barriers, now = [], [], 0
    for tile in range(TILES):
        arrived, stored = now + LOAD, now + LOAD + PUT
        bars.append(Activity("loads", now, arrived, tile))
        bars.append(Activity("stores", arrived, stored, tile, 0))
        now = stored + MULTIPLY
        bars.append(Activity("multiply-adds", stored, now, tile, 0))
        barriers += [stored, now]
    return Schedule(tuple(bars), tuple(barriers))


def tiles_with_one_buffer() -> Schedule:
    """Return the schedule of a block that loads early and stores into its one buffer."""
    return _loaded_early(buffers=1)


def tiles_with_two_buffers() -> Schedule:
    """Return the schedule of a block that loads early and stores into the other buffer."""
    return _loaded_early(buffers=2)


def _loaded_early(buffers: int) -> Schedule:
    """Return the schedule of a block that loads the next tile while it multiplies a tile.

    With one buffer it passes a barrier before it stores the next tile, and one after it.
    """
    now = LOAD + PUT
    bars = [Activity("loads", 0, LOAD, 0), Activity("stores", LOAD, now, 0, 0)]
    barriers = [now]
    for tile in range(TILES):
        done = now + MULTIPLY
        bars.append(Activity("multiply-adds", now, done, tile, tile % buffers))
        if tile + 1 == TILES:
            break
        bars.append(Activity("loads", now, now + LOAD, tile + 1))
        if buffers == 1:
            barriers.append(done)
        bars.append(Activity("stores", done, done + PUT, tile + 1, (tile + 1) % buffers))
        now = done + PUT
        barriers.append(now)
    return Schedule(tuple(bars), tuple(barriers))


def steps_with_one_set() -> Schedule:
    """Return the schedule of a warp that reads a step's words after multiplying the step before.

    All steps use the same set of registers.
    """
    bars, now = [], 0
    for step in range(STEPS):
        bars.append(Activity("reads", now, now + READ, step))
        bars.append(Activity("multiply-adds", now + READ, now + READ + OUTER, step, 0))
        now += READ + OUTER
    return Schedule(tuple(bars))


def steps_with_two_sets() -> Schedule:
    """Return the schedule of a warp that reads the next step's words while it multiplies a step."""
    bars, now = [Activity("reads", 0, READ, 0)], READ
    for step in range(STEPS):
        bars.append(Activity("multiply-adds", now, now + OUTER, step, step % 2))
        if step + 1 < STEPS:
            bars.append(Activity("reads", now, now + READ, step + 1))
        now += OUTER
    return Schedule(tuple(bars))


def draw_late_and_early() -> Picture:
    """Draw time lines of a block's loop over three tiles, each loaded late or early."""
    ways = {
        "load, then multiply": tiles_loaded_late(),
        "load the next tile meanwhile": tiles_with_one_buffer(),
    }
    alt = (
        f"Time lines of a block that multiplies {TILES} tiles, {SMALL} steps of k each. Above it "
        "loads a tile, stores it, multiplies it, and only then loads the next one. Below the next "
        "tile is on its way while this one is multiplied, and the block is done earlier. Not to "
        "scale."
    )
    key = legend(tile_on_its_way=BLUE, store_into_shared_memory=ORANGE, multiply=GREEN)
    return _picture(ways, ("loads", "multiply-adds"), "tile", SMALL, key, alt)


def draw_buffers() -> Picture:
    """Draw time lines of a block that loads tiles early, with one buffer and with two."""
    ways = {
        "one buffer, two barriers per tile": tiles_with_one_buffer(),
        "two buffers, one barrier per tile": tiles_with_two_buffers(),
    }
    alt = (
        f"Time lines of a block that multiplies {TILES} tiles and loads each early. With one "
        "buffer there is a barrier before each store and one after it. With two buffers only the "
        "one after it is left. Not to scale."
    )
    key = legend(tile_on_its_way=BLUE, store_into_shared_memory=ORANGE)
    key += legend(multiply_from_buffer_0=GREEN, multiply_from_buffer_1=DARK_GREEN)
    return _picture(ways, ("loads", "multiply-adds"), "tile", SMALL, key, alt)


def draw_steps() -> Picture:
    """Draw time lines of a warp's loop over four steps of k, with one and two sets of registers."""
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
    ways: Mapping[str, Schedule], tracks: tuple[str, str], noun: str, parts: int, key: str, alt: str
) -> Picture:
    """Return the picture of schedules, given by name, one below the other on one scale.

    tracks: the upper and the lower track. noun: "tile" or "step", the noun that a bar's number
    counts. parts: the number of equal parts of a multiply-add bar. key: the legend as SVG. alt: the
    picture's alt text.
    """
    scale = (WIDTH - LEFT - 34) / max(schedule.end for schedule in ways.values())
    panels = [_panel(name, schedule, tracks, noun, parts, scale) for name, schedule in ways.items()]
    body = "".join(
        f'<g transform="translate(0 {PANEL * index})">{panel}</g>'
        for index, panel in enumerate(panels)
    )
    return Picture(key + svg(WIDTH, PANEL * len(ways) - 4, body, alt, widest=1.3 * WIDTH), alt)


def _panel(
    name: str, schedule: Schedule, tracks: tuple[str, str], noun: str, parts: int, scale: float
) -> str:
    """Return SVG of a schedule: two tracks of bars over time, one above the other.

    `noun` is the noun that a bar's number counts, "tile" or "step". A multiply-add bar is divided
    into `parts` equal parts. `scale` is the width of one unit of time.
    """
    top = dict(zip(tracks, (28, 28 + ROW), strict=True))
    body = text(0, 16, name, 13, font_weight="bold")
    for track, y in top.items():
        body += text(0, y + 14, track, 12)
        body += path(f"M{LEFT} {y + BAR}H{WIDTH - 4}", opacity=0.3)
    for bar in schedule.bars:
        x, width = round(LEFT + bar.begin * scale, 1), round((bar.end - bar.begin) * scale - 1, 1)
        # The threads that load a tile also store it, and multiply nothing meanwhile.
        y = top.get(bar.track, top[tracks[0]])
        body += rect(x, y, width, BAR - 1, _colour(bar))
        if bar.track == "multiply-adds":
            body += _parts(x, y, width, parts)
        if bar.track != "stores":
            label = f"{noun} {bar.number}" if width > 40 else bar.number
            body += text(x + width / 2, y + 13, label, 12, "middle", style="fill:#fff")
    for begin, end in waits(schedule, round(LABEL_WIDTH / scale)):
        middle = LEFT + (begin + end) / 2 * scale
        body += text(round(middle, 1), top["multiply-adds"] + 14, "waits", 12, "middle")
    bottom = 28 + 2 * ROW
    for moment in schedule.barriers:
        x = round(LEFT + moment * scale, 1)
        body += path(f"M{x} 24V{bottom + 4}", stroke_dasharray="3 2", stroke_width=1.5)
    if schedule.barriers:
        body += text(LEFT, bottom + 18, "dashed: barrier", 12)
    end = round(LEFT + schedule.end * scale, 1)
    body += path(f"M{end} {bottom - 4}V{bottom + 6}")
    return body + text(end, bottom + 18, "done", 12, "middle")


def waits(schedule: Schedule, shortest: int) -> list[tuple[int, int]]:
    """Return the intervals (begin, end), in order, in which nothing is multiplied.

    Intervals shorter than `shortest` units of time, and the time after the last multiply-add, are
    left out.
    """
    busy = sorted((bar.begin, bar.end) for bar in schedule.bars if bar.track == "multiply-adds")
    ends = [0, *(end for _, end in busy)]
    gaps = [(end, begin) for end, (begin, _) in zip(ends, busy)]
    return [gap for gap in gaps if gap[1] - gap[0] >= shortest]


def _colour(bar: Activity) -> str:
    """Return the colour of an activity's bar: by buffer for multiply-adds, else by track."""
    return BUFFER_COLOURS[bar.buffer] if bar.track == "multiply-adds" else COLOURS[bar.track]


def _parts(x: float, y: float, width: float, parts: int) -> str:
    """Return SVG notches at the foot of a bar, between its `parts` equal parts; "" for one part."""
    marks = "".join(f"M{x + width * at / parts:.1f} {y + BAR - 1}v-5" for at in range(1, parts))
    return path(marks, stroke="#fff", stroke_width=1) if marks else ""
