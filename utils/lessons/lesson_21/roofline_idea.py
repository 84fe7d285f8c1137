"""A sketch of the roofline: two ceilings, the ridge where they meet, and three kernels."""

from __future__ import annotations

from virtual_gpu.pictures.svg import BLUE, GREEN, GREY, ORANGE, Picture, path, svg, text

LEFT, RIGHT, TOP, BOTTOM = 34, 404, 40, 214
RIDGE = 240  # x at which slope and roof meet


def draw_idea() -> Picture:
    """Draw a sketch of a roofline and three kernels: on the slope, below it, and under the roof."""
    slope = (BOTTOM - TOP) / (RIDGE - LEFT)

    def under(x: float) -> float:
        return max(TOP, BOTTOM - slope * (x - LEFT))

    body = text(0, 15, "operations per second", 12)
    body += path(f"M{LEFT} 24V{BOTTOM}H{RIGHT}", opacity=0.7)
    body += path(f"M{LEFT} {BOTTOM}L{RIDGE} {TOP}", stroke=BLUE, stroke_width=3)
    body += path(f"M{RIDGE} {TOP}H{RIGHT}", stroke=ORANGE, stroke_width=3)
    body += path(f"M{RIDGE} {TOP}V{BOTTOM}", stroke=GREY, stroke_dasharray="4 4")
    body += text(RIDGE, BOTTOM + 16, "the ridge", 12, "middle")
    body += text(RIGHT, BOTTOM + 34, "operations per byte, the intensity", 12, "end")
    body += text(RIGHT, TOP - 8, "roof: the peak of arithmetic", 12, "end")
    body += text(44, 76, "slope: intensity", 12) + text(44, 92, "times bandwidth", 12)
    for x, y, name in ((106, under(106), "A"), (138, 172.0, "B"), (290, 96.0, "C")):
        if y > under(x):
            body += path(f"M{x} {y - 10:.0f}V{under(x) + 4:.0f}", stroke=GREY, stroke_width=1.5)
        body += f'<circle cx="{x}" cy="{y:.1f}" r="6" fill="{GREEN}"/>'
        body += text(x + 9, round(y + 17), name, 13, font_weight="bold")
    # The arrow runs along the slope, and a little above it.
    body += path("M106 138l31 -26m-8 1l8 -1l-3 8", stroke=GREEN, stroke_width=2)
    body += text(112, 116, "fewer bytes", 12, "end")
    for x, y in ((138, 172), (290, 96)):
        body += path(f"M{x} {y - 14}v-26m-4 7l4 -7l4 7", stroke=GREEN, stroke_width=2)
        body += text(x + 8, y - 24, "less waiting, or", 12)
        body += text(x + 8, y - 9, "another limit?", 12)
    alt = (
        "A rising slope and a flat roof meet at the ridge. Kernel A lies on the slope: its bytes "
        "limit it, and with fewer of them it moves up along the slope. Kernel B lies below the "
        "slope and kernel C under the roof: they wait, or a limit that is not drawn holds them."
    )
    return Picture(svg(416, BOTTOM + 42, body, alt, widest=520), alt)
