"""Pictures of one request of a warp: the words that it accesses, its sectors and its banks.

Byte addresses have one entry per lane, -1 or None where a lane is inactive, as in
``Trace.requests`` and ``WarpAccess``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..common.lanes import WARP
from ..common.wording import counted, translate
from ..counts.counters import WarpAccess
from ..counts.transactions import (
    BANK_BYTES,
    BANKS,
    CACHE_LINE_BYTES,
    SECTOR_BYTES,
    Pattern,
    bank_load,
    in_pairs,
    wavefronts,
)
from .svg import BLUE, GREY, ORANGE, PALE, Picture, frames, legend, path, rect, svg, text

WORDS = CACHE_LINE_BYTES // BANK_BYTES  # of a cache line
MOST_LINES = 4  # cache lines that are drawn word by word
STRIDES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32)
PITCHES = (32, 33, 34, 36, 40, 48)
_LEFT, _TOP, _LANE, _BANK = 34, 40, 6, 11.5
_NAMES_HEIGHT = 62  # of the names above a request


def draw_request(
    addresses: Sequence, title: str = "one request", width: int = 4, named: bool = False
) -> Picture:
    """Return a Picture of one request to global memory, with the cache lines word by word.

    At most four cache lines are drawn. ``addresses`` are byte addresses by lane, None or -1 for an
    inactive lane, and ``width`` is the number of bytes per lane. ``title`` is the line above the
    drawing. If ``named`` is True, the first word, the first sector and the first cache line have
    their names above them.
    """
    return draw_requests({title: addresses}, width=width, named=named)


def draw_requests(requests: dict[str, Sequence], width: int = 4, named: bool = False) -> Picture:
    """Return a Picture of several requests to global memory, one below the other.

    ``requests`` maps the title of each request to its byte addresses by lane, None or -1 for an
    inactive lane, and ``width`` is the number of bytes per lane. At most four cache lines of each
    request are drawn. If ``named`` is True, the first word, sector and cache line of each request
    have their names above them.
    """
    by_title = {title: plain(addresses) for title, addresses in requests.items()}
    drawn = [_words(addresses, width, title, named=named) for title, addresses in by_title.items()]
    alt = " ".join(_description(addresses, width, title) for title, addresses in by_title.items())
    return Picture("".join(drawn) + legend(read_by_a_lane=BLUE, comes_with_it_unused=PALE), alt)


def draw_sectors(access: WarpAccess) -> Picture:
    """Return a Picture of 32 lanes × the words of the sectors that one global access touches.

    Raises ValueError for an access that is not to global memory.
    """
    if access.space != "global":
        raise ValueError(f"{access.array} is in {access.space} memory, which has no sectors")
    drawn, alt = lanes_by_sectors(plain(access.addresses), access.itemsize, _name(access))
    return Picture(drawn + legend(asked_for_by_a_lane=BLUE, comes_with_it_unused=PALE), alt)


def draw_banks(access: WarpAccess, where: str = "") -> Picture:
    """Return a Picture of 32 lanes × 32 banks for one access to shared memory.

    Words that share their bank with other words are orange, and the key has only the colours that
    are drawn. ``where`` is the beginning of the title, such as ``reduce1, step 3``. Raises
    ValueError for an access that is not to shared memory.
    """
    if access.space != "shared":
        raise ValueError(f"{access.array} is in {access.space} memory, which has no banks")
    title = f"{where}, {_name(access)}" if where else _name(access)
    pairs = access.kind == "load"
    drawn, alt = lanes_by_banks(plain(access.addresses), access.itemsize, title, pairs)
    key = {"one_word_of_its_bank": BLUE, "several_words_take_turns": ORANGE}
    return Picture(drawn + legend(**{word: key[word] for word in key if key[word] in drawn}), alt)


def what_if_stride(strides: Sequence[int] = STRIDES) -> Picture:
    """Return a Picture with a slider over the stride between neighbouring lanes.

    Each drawing shows the cache lines that a warp reads with one of the ``strides``, which are in
    words of 4 bytes and increase. A curve below it shows the sectors of all strides, in colour up
    to this one.
    """
    lanes = np.arange(WARP)
    drawn = [
        _words(lanes * step * BANK_BYTES, BANK_BYTES, _share(step), least=MOST_LINES)
        + _sectors_by_stride(strides, number)
        for number, step in enumerate(strides)
    ]
    labels = [translate("{words} apart", words=counted(step, "word")) for step in strides]
    shares = "; ".join(f"{label}: {_share(step)}" for label, step in zip(labels, strides))
    body = legend(read_by_a_lane=BLUE, comes_with_it_unused=PALE)
    body += frames(drawn, labels, translate("distance between neighbouring lanes in words"))
    return Picture(body, translate("32 lanes read 32 words. {shares}.", shares=shares))


def what_if_padding(pitches: Sequence[int] = PITCHES) -> Picture:
    """Return a Picture with a slider over the row pitch of a tile in shared memory.

    Each drawing shows the banks that a warp reads for one column of the tile, with one of the
    ``pitches``, which are in words of 4 bytes.
    """
    drawn, costs, labels = [], [], []
    for pitch in pitches:
        addresses = np.arange(WARP) * pitch * BANK_BYTES
        picture, _ = lanes_by_banks(addresses, BANK_BYTES, f"rows of {pitch} words")
        drawn.append(picture)
        labels.append(f"{pitch} words in a row")
        costs.append(f"{labels[-1]}: {counted(_wavefronts(addresses, BANK_BYTES), 'wavefront')}")
    body = legend(one_word_of_its_bank=BLUE, several_words_take_turns=ORANGE)
    body += frames(drawn, labels, "words from one row of the tile to the next")
    return Picture(body, f"32 lanes read a column of a tile. {'; '.join(costs)}.")


# ---- a request word by word ----


def _words(
    addresses: np.ndarray, width: int, title: str, least: int = 0, named: bool = False
) -> str:
    """Return an SVG of one request to global memory: a row of 32 words per cache line.

    At most four cache lines are drawn. Cache lines 0 to ``least`` - 1 are drawn even if no lane
    touches them, so that a slider's pictures have one size. ``addresses`` has each lane's first
    byte, -1 for an inactive lane, ``width`` is the number of bytes per lane, and ``title`` the line
    above the drawing. ``named`` is True for names of the first word, sector and cache line.
    """
    used = _used_words(addresses, width)
    touched = np.union1d(used // WORDS, np.arange(least))
    sectors = np.unique(used // 8)
    size, left, top, pitch = 11.5, 2, 24 + _NAMES_HEIGHT * named, 32
    body = [text(left, 14, title, 13, font_weight="bold")]
    if named:
        body.append(_names(left, top, size))
    for row, line in enumerate(touched[:MOST_LINES]):
        y = top + row * pitch
        for kind, fill in (("used", BLUE), ("unused", PALE), ("not moved", "none")):
            words = [
                word for word in range(WORDS) if _kind(line * WORDS + word, used, sectors) == kind
            ]
            boxes = (_box(left + w * size + 3 * (w // 8), y, size - 1.5, 13) for w in words)
            look = {"stroke_width": 0.4, "stroke_opacity": 0.5, "fill": fill}
            body.append(path("".join(boxes), **look) if words else "")
        body.append(text(left, y + 25, _lanes_of_line(addresses, width, line), 11.5, opacity=0.85))
    height = top + len(touched[:MOST_LINES]) * pitch
    if len(touched) > MOST_LINES:
        more = counted(len(touched) - MOST_LINES, "more cache line")
        body.append(text(left, height + 8, translate("… and {more}", more=more), 12))
    if max(len(touched), least + 1) > MOST_LINES:
        height += 14
    alt = _description(addresses, width, title)
    return svg(left + WORDS * size + 12, height + 4, "".join(body), alt)


def _names(left: float, bottom: float, size: float) -> str:
    """Return SVG that names the first word, sector and cache line of a row, one above the other.

    ``left`` and ``bottom`` are the upper left corner of the row, and ``size`` is the width of a
    word; there are 3 pixels between two sectors.
    """
    names = (
        (translate("word: 4 bytes"), 1),
        (translate("sector: 8 words"), 8),
        (translate("cache line: 4 sectors"), WORDS),
    )
    parts = []
    for place, (name, words) in enumerate(names):
        y = bottom - 3 - 21 * place
        end = left + words * size + 3 * ((words - 1) // 8) - 1.5
        parts.append(path(f"M{left} {y}v-4H{end:g}v4", stroke_width=1))
        beside = words == 1  # the name is wider than the bracket
        parts.append(text(end + 6 if beside else left, y - (1 if beside else 9), name, 11.5))
    return "".join(parts)


def _kind(word: int, used: np.ndarray, sectors: np.ndarray) -> str:
    """Return "used", "unused" or "not moved" for a word, given the used words and moved sectors."""
    return "used" if word in used else "unused" if word // 8 in sectors else "not moved"


def _lanes_of_line(addresses: np.ndarray, width: int, line: int) -> str:
    """Return the lanes that access the cache line with index ``line``, as text.

    The text is such as ``lanes 0 to 7, 16``, ``17 lanes`` if the lanes form more than three runs,
    or ``not brought`` for a cache line that no lane accesses. ``addresses`` has each lane's first
    byte, -1 for an inactive lane, and ``width`` is the number of bytes per lane.
    """
    last = (addresses + width - 1) // CACHE_LINE_BYTES
    inside = (addresses // CACHE_LINE_BYTES <= line) & (line <= last)
    lanes = np.flatnonzero((addresses >= 0) & inside)
    runs = np.split(lanes, np.flatnonzero(np.diff(lanes) != 1) + 1)
    if not lanes.size:
        return translate("not brought")
    if len(runs) > 3:
        return counted(len(lanes), "lane")
    ranges = ", ".join(
        translate("{first} to {last}", first=run[0], last=run[-1]) if len(run) > 1 else str(run[0])
        for run in runs
    )
    if len(lanes) == 1:
        return translate("lane {number}", number=ranges)
    return translate("lanes {numbers}", numbers=ranges)


def _description(addresses: np.ndarray, width: int, title: str) -> str:
    """Return a sentence on a request's lanes, sectors, cache lines and used words, as alt text.

    It begins with ``title``. ``addresses`` and ``width`` are those of ``_words``.
    """
    used = _used_words(addresses, width)
    sectors, lines = len(np.unique(used // 8)), len(np.unique(used // WORDS))
    return translate(
        "{title}: {lanes} touch {sectors} in {cache_lines} and use {used} of {words} words that "
        "come.",
        title=title,
        lanes=counted(int((addresses >= 0).sum()), "lane"),
        sectors=counted(sectors, "sector"),
        cache_lines=counted(lines, "cache line"),
        used=len(used),
        words=8 * sectors,
    )


def _sectors_of(step: int) -> int:
    """Return the sectors of a warp's load with a stride of ``step`` words of 4 bytes."""
    return len(np.unique(np.arange(WARP) * step // 8))


def _sectors_by_stride(strides: Sequence[int], chosen: int) -> str:
    """Return an SVG of a curve of the sectors of a warp's load against its stride.

    The curve is grey, and blue up to the stride at index ``chosen``, which is marked. ``strides``
    are in words of 4 bytes and increase.
    """
    longest, stride = strides[-1], strides[chosen]
    left, top, wide, high = 52, 24, 300, 84
    x, y = wide / longest, high / WARP
    points = [(left + step * x, top + high - _sectors_of(step) * y) for step in strides]
    body = [text(0, 12, translate("sectors per request"), 12)]
    for sectors in (0, 8, 16, 24, 32):
        at = top + high - sectors * y
        body.append(path(f"M{left} {at:g}h{wide}", stroke=GREY, stroke_width=0.5, opacity=0.6))
        body.append(text(left - 8, at + 4, sectors, 12, anchor="end"))
    for step in range(8, longest + 1, 8):
        at = left + step * x
        body.append(path(f"M{at:g} {top + high}v4", stroke=GREY))
        body.append(text(at, top + high + 17, step, 12, anchor="middle"))
    distance = translate("distance of neighbouring lanes in words")
    body.append(text(left, top + high + 34, distance, 12))
    for colour, drawn in ((GREY, points), (BLUE, points[: chosen + 1])):
        joined = "L".join(f"{px:g} {py:g}" for px, py in drawn)
        body.append(path(f"M{joined}", stroke=colour, stroke_width=2))
        dots = [_box(px - 2, py - 2, 4, 4) for px, py in drawn]
        body.append(path("".join(dots), fill=colour, stroke="none"))
    px, py = points[chosen]
    body.append(f'<circle cx="{px:g}" cy="{py:g}" r="5.5" fill="{BLUE}"/>')
    alt = translate(
        "Sectors per request against the distance of neighbouring lanes. "
        "Marked: {distance} apart: {sectors} sectors.",
        distance=stride,
        sectors=_sectors_of(stride),
    )
    return svg(WORDS * 11.5 + 12, top + high + 40, "".join(body), alt)


def _share(step: int) -> str:
    """Return text on the sectors, cache lines and used bytes of a warp's load with a stride.

    ``step`` is the stride in words of 4 bytes.
    """
    sectors, lines = _sectors_of(step), len(np.unique(np.arange(WARP) * step // WORDS))
    return translate(
        "{sectors} in {cache_lines}, {used:.3g}% is used",
        sectors=counted(sectors, "sector"),
        cache_lines=counted(lines, "cache line"),
        used=100 * WARP / (8 * sectors),
    )


# ---- lanes by sectors, lanes by banks ----


def lanes_by_sectors(addresses: np.ndarray, width: int, title: str) -> tuple[str, str]:
    """Return (SVG, alt text) of one request to global memory, as lanes × words of its sectors.

    ``addresses`` are byte addresses by lane, -1 where a lane is inactive. ``width`` is the number
    of bytes per lane. The line above the drawing is ``title`` and the cost.
    """
    used = _used_words(addresses, width)
    sectors = np.unique(used // 8)
    columns = max(8, len(sectors))
    unit = BANKS * _BANK / columns
    bytes_used = len(np.unique(addresses[addresses >= 0])) * width
    moved = len(sectors) * SECTOR_BYTES
    above = text(_LEFT, 28, translate("sectors of 8 words"), 11, opacity=0.85)
    body = [_paper(), _lane_axis(), above]
    moved_words = (sectors[:, None] * 8 + np.arange(8)).ravel()
    idle = np.flatnonzero(~np.isin(moved_words, used))
    runs = np.split(idle, np.flatnonzero(np.diff(idle) != 1) + 1)
    unused = [
        _box(_LEFT + run[0] * unit / 8, _TOP, len(run) * unit / 8, WARP * _LANE)
        for run in runs
        if len(run)
    ]
    body.append(path("".join(unused), fill=PALE, stroke="none"))
    edges = "".join(f"M{_LEFT + n * unit:.4g} {_TOP}v{WARP * _LANE}" for n in range(columns + 1))
    body.append(path(edges, stroke=GREY, stroke_width=0.5, opacity=0.6))
    marks = []
    for lane in np.flatnonzero(addresses >= 0):
        column = int(np.searchsorted(sectors, addresses[lane] // SECTOR_BYTES))
        x = _LEFT + (column + addresses[lane] % SECTOR_BYTES / SECTOR_BYTES) * unit
        wide = max(unit * width / SECTOR_BYTES, 2.5)
        marks.append(_box(x, _TOP + lane * _LANE + 0.5, wide, _LANE - 1))
    body.append(path("".join(marks), fill=BLUE, stroke="none"))
    cost = translate(
        "{sectors}, {used:,} of {moved:,} bytes used",
        sectors=counted(len(sectors), "sector"),
        used=bytes_used,
        moved=moved,
    )
    body.append(text(_LEFT, 13, f"{title}: {cost}", 13, font_weight="bold"))
    alt = translate("Lanes by sectors, {title}: {cost}.", title=title, cost=cost)
    return svg(_LEFT + BANKS * _BANK + 6, _TOP + WARP * _LANE + 6, "".join(body), alt), alt


def lanes_by_banks(
    addresses: np.ndarray, width: int, title: str, pairs: bool = True
) -> tuple[str, str]:
    """Return (SVG, alt text) of one request to shared memory, as lanes × banks.

    ``addresses`` are byte addresses by lane, -1 where a lane is inactive. ``width`` is the number
    of bytes per lane. ``pairs`` is True if lanes that access the same 16 bytes in pairs are served
    together. The line above the drawing is ``title`` and the cost.
    """
    parts, groups = max(1, width // BANK_BYTES), _groups(addresses, width, pairs)
    marks: dict[str, list[str]] = {BLUE: [], ORANGE: []}
    worst, crowded = 0, (0, np.empty(0, np.int64))
    for first in range(0, WARP, WARP // groups):
        lanes = np.arange(first, first + WARP // groups)
        lanes = lanes[addresses[lanes] >= 0]
        words = addresses[lanes, None] // BANK_BYTES + np.arange(parts)
        load = bank_load(words.reshape(1, -1))[0]
        for lane, lane_words in zip(lanes, words, strict=True):
            for bank in lane_words % BANKS:
                colour = ORANGE if load[bank] > 1 else BLUE
                x, y = _LEFT + bank * _BANK, _TOP + lane * _LANE
                marks[colour].append(_box(x + 0.5, y + 0.5, _BANK - 1, _LANE - 1))
        if load.max() > worst:
            worst, bank = int(load.max()), int(load.argmax())
            crowded = (bank, np.unique(words[words % BANKS == bank]))
    body = [_paper(), _lane_axis(), _bank_axis(), _columns()]
    body += [
        path("".join(drawn), fill=colour, stroke="none") for colour, drawn in marks.items() if drawn
    ]
    if groups > 1:
        body.append(_group_borders(WARP // groups))
    total = _wavefronts(addresses, width, pairs)
    cost = counted(total, "wavefront")
    if groups > 1:
        cost += f" ({'half' if groups == 2 else 'quarter'} warps in turn)"
    busiest = _busiest_bank(*crowded)
    body.append(text(_LEFT, 13, f"{title}: {cost}", 13, font_weight="bold"))
    bottom = _TOP + WARP * _LANE
    body.append(text(_LEFT, bottom + 18, busiest, 12))
    alt = f"Lanes by banks, {title}: {cost}. {busiest}"
    return svg(_LEFT + BANKS * _BANK + 6, bottom + 26, "".join(body), alt), alt


def _busiest_bank(bank: int, words: np.ndarray) -> str:
    """Return a sentence that names the busiest bank and at most four of the ``words`` it serves.

    ``words`` are the distinct word indices in that bank. With fewer than two, the sentence says
    that no bank is asked for two words at once.
    """
    if len(words) < 2:
        return "No bank is asked for two words at once."
    some = ", ".join(map(str, words[:4]))
    rest = ", …" if len(words) > 4 else ""
    return f"Bank {bank} serves {len(words)} words in turn: {some}{rest}"


def _groups(addresses: np.ndarray, width: int, pairs: bool) -> int:
    """Return the number of lane groups that shared memory serves one after the other: 1, 2 or 4.

    ``width`` is the number of bytes per lane. A group has 32, 16 or 8 lanes. ``pairs`` is that of
    ``lanes_by_banks``.
    """
    parts = max(1, width // BANK_BYTES)
    if parts == 4 and pairs and in_pairs(addresses[None], addresses[None] >= 0)[0]:
        return 2
    return parts


def _wavefronts(addresses: np.ndarray, width: int, pairs: bool = True) -> int:
    """Return the number of wavefronts of one request to shared memory.

    ``addresses`` are byte addresses by lane, -1 where a lane is inactive, and ``width`` is the
    number of bytes per lane. ``pairs`` is that of ``lanes_by_banks``.
    """
    return wavefronts(Pattern(addresses[None], addresses[None] >= 0), width, pairs)


def _paper() -> str:
    """Return the SVG background of the field of lanes × banks, or lanes × sectors."""
    width, height = BANKS * _BANK, WARP * _LANE
    return rect(_LEFT, _TOP, width, height, GREY, fill_opacity=0.1)


def _group_borders(lanes: int) -> str:
    """Return SVG of a line between groups of this number of lanes, which are served in turn."""
    heights = (_TOP + lane * _LANE for lane in range(lanes, WARP, lanes))
    return path("".join(f"M{_LEFT - 3} {y:g}h{BANKS * _BANK + 3}" for y in heights))


def _lane_axis() -> str:
    """Return SVG texts at the left of the field: every eighth lane number, and the last one."""
    lanes = (
        text(_LEFT - 5, _TOP + lane * _LANE + 7, lane, 10.5, "end", opacity=0.85)
        for lane in (0, 8, 16, 24, 31)
    )
    return text(_LEFT - 5, 28, translate("lane"), 11, "end", opacity=0.85) + "".join(lanes)


def _bank_axis() -> str:
    """Return SVG texts above the field: every fourth bank number, and the last one."""
    return "".join(
        text(_LEFT + (n + 0.5) * _BANK, _TOP - 4, n, 10.5, "middle", opacity=0.85)
        for n in (4, 8, 12, 16, 20, 24, 28, 31)
    ) + text(_LEFT, _TOP - 4, "bank 0", 10.5, opacity=0.85)


def _columns() -> str:
    """Return an SVG path with a vertical line at every fourth bank."""
    lines = "".join(f"M{_LEFT + n * _BANK:g} {_TOP}v{WARP * _LANE}" for n in range(4, BANKS, 4))
    return path(lines, stroke=GREY, stroke_width=0.5, opacity=0.6)


def _box(x: float, y: float, width: float, height: float) -> str:
    """Return the SVG path commands of a rectangle whose upper left corner is (x, y)."""
    return f"M{x:.5g} {y:.5g}h{width:.4g}v{height:.4g}h{-width:.4g}z"


def plain(addresses: Iterable) -> np.ndarray:
    """Return byte addresses by lane as an int64 array, with -1 for None in inactive lanes."""
    return np.array([-1 if address is None else address for address in addresses], np.int64)


def _used_words(addresses: np.ndarray, width: int) -> np.ndarray:
    """Return the indices of the 4-byte words that active lanes access, distinct and ascending.

    ``addresses`` has each lane's first byte, -1 for an inactive lane, and ``width`` is the number
    of bytes per lane.
    """
    on = addresses[addresses >= 0]
    return np.unique((on[:, None] + np.arange(0, width, BANK_BYTES)) // BANK_BYTES)


def _name(access: WarpAccess) -> str:
    """Return text such as ``load of a``."""
    return f"{access.kind} of {access.array}"
