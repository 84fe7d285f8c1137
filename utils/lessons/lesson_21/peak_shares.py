"""A dot plot of the share of its own peak that each processor reaches."""

from __future__ import annotations

from collections.abc import Mapping

from virtual_gpu.pictures.svg import BLUE, GREEN, ORANGE, Picture, path, svg, text

LEFT, RIGHT, TOP, PITCH = 126, 390, 52, 30
COLOURS = (ORANGE, GREEN, BLUE)


def draw_peak_shares(title: str, rows: Mapping[str, Mapping[str, float]]) -> Picture:
    """Draw one row per processor, with a dot for each of its shares of the peak.

    `rows` maps a processor to its shares: at most three fractions, by the name of what was run. The
    names and their order are the same in all rows.
    """
    bottom = TOP + PITCH * len(rows)
    names = list(next(iter(rows.values())))

    def x(share: float) -> float:
        return LEFT + (RIGHT - LEFT) * share

    body = text(0, 15, title, 14, font_weight="bold")
    at = 0.0
    for name, colour in zip(names, COLOURS, strict=False):
        body += f'<circle cx="{at + 6:g}" cy="32" r="5" fill="{colour}"/>'
        body += text(at + 16, 36, name, 12)
        at += 32 + 6.6 * len(name)
    for share in (0, 0.25, 0.5, 0.75, 1):
        body += path(f"M{x(share):g} {TOP}V{bottom}", opacity=0.2)
        body += text(x(share), bottom + 16, f"{share:.0%}", 12, "middle")
    descriptions = []
    for row, (processor, shares) in enumerate(rows.items()):
        y = TOP + PITCH * (row + 0.5)
        body += text(LEFT - 8, y + 4, processor, 12, "end")
        body += path(f"M{LEFT} {y}H{RIGHT}", opacity=0.3)
        for (name, share), colour in zip(shares.items(), COLOURS, strict=False):
            body += f'<circle cx="{x(share):.1f}" cy="{y}" r="6" fill="{colour}"/>'
            descriptions.append(f"{processor}, {name}: {share:.1%}")
    alt = f"{title}. {'; '.join(descriptions)}."
    return Picture(svg(416, bottom + 24, body, alt, widest=520), alt)
