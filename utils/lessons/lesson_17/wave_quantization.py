"""Pictures of wave quantization: tiles on SMs, a partial last wave, and tiles cut along k."""

from __future__ import annotations

from utils.division import cdiv
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
LEFT, TOP, ROW, LONG = 46, 24, 19, 168  # LONG: the width of an uncut tile
WIDTH, HEIGHT = LEFT + 2 * LONG + 12, TOP + SMS * ROW + 34
# (tiles, slices per tile) of each drawing.
MOMENTS = ((8, 1), (9, 1), (3, 1), (3, 2))
OPENS = 2  # the drawing that is visible at first


def draw_waves() -> Picture:
    """Draw the tiles that each of 8 SMs computes over time, with a slider over four products."""
    drawn = [_moment(tiles, slices) for tiles, slices in MOMENTS]
    labels = [_label(tiles, slices) for tiles, slices in MOMENTS]
    alt = (
        f"{SMS} SMs in rows, time to the right. 8 tiles take one wave, and all SMs work. 9 tiles "
        "take two waves, and in the second one SM works alone. With 3 tiles 5 SMs have nothing to "
        "do. When each of the 3 tiles is cut in two slices, 6 SMs work, for half of the time."
    )
    key = legend(a_tile_or_its_first_half=BLUE, its_second_half=ORANGE)
    return Picture(key + frames(drawn, labels, "Picture", OPENS), alt)


def waves_of(tiles: int, slices: int) -> int:
    """Return the number of waves of tiles × slices blocks on 8 SMs, one block per SM at a time."""
    return cdiv(tiles * slices, SMS)


def _label(tiles: int, slices: int) -> str:
    """Return text on a product such as "3 tiles, each cut in 2"."""
    cut = f", each cut in {slices}" if slices > 1 else ""
    return f"{tiles} tiles{cut}"


def _moment(tiles: int, slices: int) -> str:
    """Return SVG of one product: the slices that each SM computes over time, a row per SM.

    The slices go to the SMs round-robin, wave after wave.
    """
    waves, slice_width = waves_of(tiles, slices), LONG / slices
    body = ""
    for sm in range(SMS):
        y = TOP + sm * ROW
        body += text(LEFT - 8, y + 13, f"SM {sm}", 12, "end")
        for wave in range(waves):
            number, x = wave * SMS + sm, LEFT + wave * slice_width
            if number < tiles * slices:
                colour = ORANGE if slices > 1 and number % slices else BLUE
                body += rect(x + 1, y + 1, slice_width - 2, ROW - 3, colour)
                name = f"tile {number // slices}"
                body += text(x + slice_width / 2, y + 13, name, 11, "middle", style="fill:#fff")
            else:
                body += rect(x + 1, y + 1, slice_width - 2, ROW - 3, GREY, fill_opacity=0.25)
                body += text(x + slice_width / 2, y + 13, "nothing to do", 11, "middle")
    bottom = TOP + SMS * ROW + 4
    body += path(f"M{LEFT} {bottom}h{2 * LONG + 4}", stroke_width=1.2)
    share = tiles * slices / (SMS * waves)
    summary = f"{waves} wave{'s' * (waves > 1)}: {share:.0%} of the SMs' time is used"
    body += text(LEFT, bottom + 18, summary, 13, font_weight="bold")
    body += text(LEFT + 2 * LONG, TOP - 8, "time →", 12, "end")
    return svg(WIDTH, HEIGHT, body, f"{_label(tiles, slices)}: {summary}.", widest=1.35 * WIDTH)
