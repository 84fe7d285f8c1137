"""Stacked bars of a loop's instructions by kind, with the recorded share of the peak.

The multiply-adds come first, so that the end of their part is an upper bound of the share. A
triangle marks the bound by loads and stores where it is the lower one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from virtual_gpu.pictures.svg import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Picture,
    legend,
    path,
    rect,
    svg,
    text,
)

LIGHT_GREEN = "#7cc7a6"
COLOURS = {
    "multiply-add": GREEN,
    "other arithmetic": LIGHT_GREEN,
    "load or store": BLUE,
    "address or counter": GREY,
    "test, jump or barrier": ORANGE,
}
LEFT, RIGHT, TOP, PITCH, BAR = 112, 372, 18, 26, 14
SCHEDULERS = 4  # of an SM; each can start a multiply-add of a warp per cycle
_KINDS = {
    **dict.fromkeys(("FFMA", "FFMA2"), "multiply-add"),
    **dict.fromkeys(("LDG", "LDS", "LDL", "LD", "STG", "STS", "STL", "LDGSTS"), "load or store"),
    **dict.fromkeys(
        ("ISETP", "UISETP", "PLOP3", "BRA", "BAR", "BSSY", "BSYNC"), "test, jump or barrier"
    ),
    **dict.fromkeys(("FMUL", "FADD", "F2F", "DADD", "DMUL", "DFMA"), "other arithmetic"),
}


def kind_of(name: str) -> str:
    """Return the kind of an instruction, a key of `COLOURS`, by its name without modifiers.

    Instructions with an unknown name are "address or counter".
    """
    return _KINDS.get(name, "address or counter")


def kinds(mix: Mapping[str, int]) -> Counter[str]:
    """Count instructions by kind, which is a key of `COLOURS`.

    `mix` maps the names of instructions, with or without modifiers, to their counts. Instructions
    with an unknown name count as "address or counter".
    """
    by_kind: Counter[str] = Counter()
    for name, count in mix.items():
        by_kind[kind_of(name.partition(".")[0])] += count
    return by_kind


def load_store_bound(mix: Mapping[str, int]) -> float:
    """Return the greatest share of the peak that a loop's loads and stores allow, from 0 to 1.

    An SM takes at most one load or store of a warp per cycle, for all its schedulers together. mix:
    as for `kinds`.
    """
    counts = kinds(mix)
    cycles_at_the_peak = counts["multiply-add"] / SCHEDULERS
    return cycles_at_the_peak / max(counts["load or store"], cycles_at_the_peak)


def draw_shares(
    title: str, loops: Mapping[str, tuple[Mapping[str, int], float | None]], where: str = ""
) -> Picture:
    """Draw one stacked bar per loop: the shares of its instructions by kind.

    A mark on each bar is at the recorded share of the peak, and a triangle above it is at the bound
    by loads and stores if this bound is below the share of multiply-adds.

    Parameters
    ----------
    title : str
        The heading of the picture.
    loops : mapping
        By name, a pair: the counts of the loop's instructions by name, and the recorded share of
        the peak as a fraction. None draws no mark.
    where : str
        The device of the recorded shares, for the legend of the mark. An empty string leaves this
        legend out.
    """
    bottom = TOP + PITCH * len(loops)

    def x(share: float) -> float:
        return LEFT + (RIGHT - LEFT) * share

    found = {kind for mix, _ in loops.values() for kind in kinds(mix)}
    used = {kind: colour for kind, colour in COLOURS.items() if kind in found}
    body, descriptions = "", []
    for share in (0, 0.25, 0.5, 0.75, 1):
        body += path(f"M{x(share):g} {TOP - 6}V{bottom}", opacity=0.2)
        body += text(x(share), bottom + 15, f"{share:.0%}", 12, "middle")
    for index, (name, (mix, recorded)) in enumerate(loops.items()):
        y, at, counts = TOP + PITCH * index, 0.0, kinds(mix)
        body += text(LEFT - 8, y + 11, name, 12, "end")
        for kind, colour in used.items():
            part = counts[kind] / counts.total()
            body += rect(round(x(at), 1), y, round((RIGHT - LEFT) * part, 1), BAR, colour)
            at += part
        bound = counts["multiply-add"] / counts.total()
        description, by_loads = f"{name}: {bound:.1%} multiply-adds", load_store_bound(mix)
        if by_loads < bound:
            body += _triangle(x(by_loads), y)
            description += f", at most {by_loads:.1%} of the peak by loads and stores"
        if recorded is not None:
            body += _mark(x(recorded), y)
            description += f", {recorded:.1%} of the peak recorded"
        descriptions.append(description)
    alt = f"{title}. {'; '.join(descriptions)}."
    words = [(kind.replace(" ", "_"), colour) for kind, colour in used.items()]
    # Two rows, so that a narrow page does not shrink the text.
    heading = f"<p><b>{title}</b></p>"
    key = legend(**dict(words[:2])) + legend(**dict(words[2:])) + (_key(where) if where else "")
    if any(load_store_bound(mix) < 1 for mix, _ in loops.values()):
        key += _key_of_triangle()
    return Picture(heading + key + svg(416, bottom + 22, body, alt, widest=540), alt)


def _mark(x: float, y: float) -> str:
    """Return the SVG of an upright black bar at x, with a white edge, over a bar with its top y."""
    return path(f"M{x:.1f} {y - 4}v{BAR + 8}", stroke="white", stroke_width=5) + path(
        f"M{x:.1f} {y - 4}v{BAR + 8}", stroke="black", stroke_width=2.5
    )


def _triangle(x: float, y: float) -> str:
    """Return the SVG of a triangle that points down at x, to a bar with its top y."""
    return path(f"M{x:.1f} {y - 1}l-5 -8h10z", fill="currentColor")


def _key_of_triangle() -> str:
    """Return the SVG of the legend of the triangle."""
    words = "at most, by the loads and stores"
    return svg(360, 24, _triangle(8, 17) + text(20, 16, words), f"Triangle: {words}.", widest=360)


def _key(where: str) -> str:
    """Return the SVG of the legend of the mark: the share of the peak, recorded on `where`."""
    words = f"share of the peak, recorded on {where}"
    body = _mark(8, 4) + text(20, 16, words)
    return svg(360, 24, body, f"Upright bar: {words}.", widest=360)
