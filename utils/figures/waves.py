"""Tiles shared out to SMs: waves, the last of them part empty, and tiles that are cut along k."""

from __future__ import annotations

from virtual_gpu.pictures.svg import (
    BLUE,
    GREY,
    ORANGE,
    Picture,
    frames,
    legend,
    path,
    rect,
    svg,
    text,
)

SMS = 8
LEFT, TOP, ROW, LONG = 46, 24, 19, 168  # LONG: of a tile that is not cut
WIDTH, HEIGHT = LEFT + 2 * LONG + 12, TOP + SMS * ROW + 34
# Tiles and slices of each.
MOMENTS = ((8, 1), (9, 1), (3, 1), (3, 2))


def draw_waves() -> Picture:
    """A slider through products of several tiles on 8 SMs: which SM works when."""
    drawn = [_moment(tiles, slices) for tiles, slices in MOMENTS]
    labels = [_told(tiles, slices) for tiles, slices in MOMENTS]
    alt = (
        f"{SMS} SMs in rows, time to the right. 8 tiles take one wave, and all SMs work. 9 tiles "
        "take two waves, and in the second one SM works alone. With 3 tiles 5 SMs have nothing to "
        "do. When each of the 3 tiles is cut in two slices, 6 SMs work, for half of the time."
    )
    key = legend(a_tile_or_its_first_half=BLUE, its_second_half=ORANGE)
    return Picture(key + frames(drawn, labels, "Picture"), alt)


def waves_of(tiles: int, slices: int) -> int:
    return -(-tiles * slices // SMS)


def _told(tiles: int, slices: int) -> str:
    cut = f", each cut in {slices}" if slices > 1 else ""
    return f"{tiles} tiles{cut}"


def _moment(tiles: int, slices: int) -> str:
    """One product: its slices go to the SMs in turn, wave after wave."""
    waves, long = waves_of(tiles, slices), LONG / slices
    body = ""
    for sm in range(SMS):
        y = TOP + sm * ROW
        body += text(LEFT - 8, y + 13, f"SM {sm}", 12, "end")
        for turn in range(waves):
            number, x = turn * SMS + sm, LEFT + turn * long
            if number < tiles * slices:
                colour = ORANGE if slices > 1 and number % slices else BLUE
                body += rect(x + 1, y + 1, long - 2, ROW - 3, colour)
                name = f"tile {number // slices}"
                body += text(x + long / 2, y + 13, name, 11, "middle", style="fill:#fff")
            else:
                body += rect(x + 1, y + 1, long - 2, ROW - 3, GREY, fill_opacity=0.25)
                body += text(x + long / 2, y + 13, "nothing to do", 11, "middle")
    bottom = TOP + SMS * ROW + 4
    body += path(f"M{LEFT} {bottom}h{2 * LONG + 4}", stroke_width=1.2)
    share = tiles * slices / (SMS * waves)
    words = f"{waves} wave{'s' * (waves > 1)}: {share:.0%} of the SMs' time is used"
    body += text(LEFT, bottom + 18, words, 13, font_weight="bold")
    body += text(LEFT + 2 * LONG, TOP - 8, "time →", 12, "end")
    return svg(WIDTH, HEIGHT, body, f"{_told(tiles, slices)}: {words}.", widest=1.35 * WIDTH)
