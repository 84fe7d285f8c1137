"""A picture of ldmatrix_x4: the chunk that each lane names, and the elements that it gets."""

from __future__ import annotations

from utils.figures.fragments import cells_of, fragment
from utils.figures.matrices import matrix
from virtual_gpu.numbers.fragments import element_of_a
from virtual_gpu.pictures.svg import BLUE, ORANGE, Picture, frames, legend, path, rect, svg, text

PART, SIDE = 8, 16  # rows and columns of one part, and of all four
WARP = 32
OF_A = SIDE * SIDE // WARP  # elements per lane
SIZE = 18  # the edge of a square in pixels
LEFT, TOP = 26, 42
WIDTH, HEIGHT = LEFT + SIDE * SIZE + 4, TOP + SIDE * SIZE + 4
OPENS = 10  # the lane that is drawn at first


def draw_parts() -> Picture:
    """Draw the 16×16 elements of an ldmatrix_x4, with a slider over the lanes."""
    key = legend(chunk_that_the_lane_names=ORANGE, elements_that_it_gets=BLUE)
    row, column = chunk_of(OPENS)
    got = ", ".join(map(str, cells_of(element_of_a, OPENS, OF_A)))
    alt = (
        f"16×16 elements in four parts of 8×8, and a slider over the lanes. Lane {OPENS} names the "
        f"chunk that begins at ({row}, {column}), and gets the elements {got}."
    )
    drawn = [_lane(lane) for lane in range(WARP)]
    return Picture(key + frames(drawn, [f"lane {one}" for one in range(WARP)], "lane", OPENS), alt)


def chunk_of(lane: int) -> tuple[int, int]:
    """Return the (row, column) of the first element of the chunk that a lane names."""
    return lane % SIDE, lane // SIDE * PART


def _lane(lane: int) -> str:
    """Return the SVG of the four parts with the chunk and the elements of one lane."""
    at = (LEFT, TOP)
    body = text(0, 15, f"lane {lane}", 14, font_weight="bold") + _numbers()
    row, column = chunk_of(lane)
    body += rect(LEFT + column * SIZE, TOP + row * SIZE, PART * SIZE, SIZE, ORANGE)
    body += matrix(at, SIDE, SIDE, SIZE, "")
    body += path(
        f"M{LEFT + PART * SIZE} {TOP}v{SIDE * SIZE}M{LEFT} {TOP + PART * SIZE}h{SIDE * SIZE}"
    )
    body += fragment(at, SIZE, cells_of(element_of_a, lane, OF_A), BLUE)
    return svg(WIDTH, HEIGHT, body, f"lane {lane}", widest=1.1 * WIDTH)


def _numbers() -> str:
    """Return the SVG of the numbers of rows, columns and parts; part 1 is below part 0."""
    body = ""
    for number in range(SIDE):
        body += text(LEFT - 5, TOP + (number + 0.5) * SIZE + 4, number, 11, "end")
        body += text(LEFT + (number + 0.5) * SIZE, TOP - 5, number, 11, "middle")
    for part in range(4):
        row, column = chunk_of(part * PART)
        x, y = LEFT + (column + PART / 2) * SIZE, TOP + (row + PART / 2) * SIZE + 14
        body += text(x, y, f"part {part}", 30, "middle", opacity=0.3)
    return body
