"""The overview of a film: a bar per step, with global memory above the line and shared below it."""

from __future__ import annotations

from ..common.wording import counted
from ..counts.transactions import SECTOR_BYTES
from .costs import Cost
from .film import Film

LENGTH = 600  # width of the picture
WIDEST = 50  # the greatest width of a bar
HEIGHTS = {"reads": (26, 24), "sectors": (36, 14), "banks": (14, 36)}  # above and below the line

AMONG_LANES = ("shuffle", "vote", "match", "syncwarp", "mma")

Bars = tuple[float, float, float, float]


def weights(film: Film, focus: str) -> list[Bars]:
    """Return the heights of a film's bars: a tuple (used, wasted, plain, extra) per step.

    They are summed over the block. The first two are drawn above the line, the others below it.
    With the focus on reads, used and plain are the elements of global and of shared memory that
    threads access; wasted and extra are 0. Otherwise used and wasted are sectors, plain is the
    number of wavefronts without bank conflicts, and extra the number that conflicts add.
    """
    return [_weights(step.cost, focus) for step in film.steps]


def _weights(cost: Cost, focus: str) -> Bars:
    """Return the heights (used, wasted, plain, extra) of the bars of one step with this cost.

    ``focus`` is "reads", "sectors" or "banks". For "reads", the heights are accesses to global and
    to shared memory.
    """
    if focus == "reads":
        shared = cost.shared_reads + cost.shared_writes
        return float(cost.global_reads + cost.global_writes), 0.0, float(shared), 0.0
    used, extra = cost.used / SECTOR_BYTES, cost.wavefronts - cost.plain
    return used, cost.sectors - used, float(cost.plain), float(extra)


def peaks(films: tuple[Film, ...], focus: str) -> tuple[float, float]:
    """Return the greatest height above the line and the greatest below it, over all films.

    They are in the units of ``weights`` and at least 1. All films of a movie share this scale.
    ``focus`` is "reads", "sectors" or "banks".
    """
    every = [bars for film in films for bars in weights(film, focus)]
    return max(1, *(u + w for u, w, *_ in every)), max(1, *(p + e for *_, p, e in every))


def step_bars(film: Film, highest: tuple[float, float], focus: str) -> str:
    """Return a film's bars as an SVG, scaled by ``highest``, which ``peaks`` returns.

    Barriers are dashed lines, and steps that are left out are dots. Warp functions are marks on the
    line, and atomic operations are vertical lines above it. ``focus`` is "reads", "sectors" or
    "banks".
    """
    up, down = HEIGHTS[focus]
    slot, bars = min(WIDEST, LENGTH / len(film.steps)), []
    gap = min(2.5, slot * 0.18)
    for n, (step, heights) in enumerate(zip(film.steps, weights(film, focus), strict=True)):
        x, wide = n * slot + gap / 2, slot - gap
        if step.is_barrier:
            bars.append(f'<path class="meet" d="M{x + wide / 2:.1f} 0v{up + down + 2}"/>')
        if any(event.kind in AMONG_LANES for event in step.events):
            bars.append(f'<path class="lanes" d="M{x:.1f} {up + 1}h{wide:.1f}"/>')
        if step.cost.atomics:
            bars.append(f'<path class="atomics" d="M{x + wide / 2:.1f} {up}v{-up / 2:g}"/>')
        if step.left_out:
            bars.append(f'<path class="gap" d="M{x:.1f} {up + 1}h{wide:.1f}"/>')
        used, wasted, plain, extra = heights
        high, orange = up * used / highest[0], up * wasted / highest[0]
        deep, late = down * plain / highest[1], down * extra / highest[1]
        for look, top, tall in (
            ("used", up - high, high),
            ("wasted", up - high - orange, orange),
            ("bank", up + 2, deep),
            ("wasted", up + 2 + deep, late),
        ):
            if tall:
                bars.append(
                    f'<rect class="{look}" x="{x:.1f}" y="{top:.1f}" width="{wide:.1f}" '
                    f'height="{max(tall, 1):.1f}"/>'
                )
    return (
        f'<svg class="vm-strip" viewBox="0 0 {LENGTH} {up + down + 2}" preserveAspectRatio="none" '
        f'aria-hidden="true"><path class="base" d="M0 {up + 1}H{LENGTH}"/>{"".join(bars)}'
        f'<rect class="head" y="0" height="{up + down + 2}" width="{slot:.2f}" x="-99" '
        f'data-slot="{slot:.4f}"/></svg>'
    )


def summary(film: Film, focus: str) -> str:
    """Return the total cost of a film in words; the important numbers are between asterisks.

    ``focus`` selects the cost: "reads" (elements read from global and shared memory), "sectors"
    (sectors moved, and the share of their bytes used) or "banks" (requests to shared memory, their
    wavefronts, and those that conflicts add). Atomic operations follow, if there are any.
    """
    cost = film.total
    extra = cost.wavefronts - cost.plain
    if focus == "reads":
        shared = f", *{cost.shared_reads:,}* from shared" if cost.shared_reads else ""
        text = f"*{cost.global_reads:,}* reads from global memory{shared}"
    elif focus == "sectors":
        share = cost.used / max(1, SECTOR_BYTES * cost.sectors)
        text = f"*{cost.sectors:,}* sectors moved, {share:.0%} of their bytes used"
    else:
        queue = f", *{extra:,}* of them in a queue" if extra else ""
        text = (
            f"{counted(cost.shared_requests, 'request')} to shared memory: *{cost.wavefronts:,}* "
            f"{'wavefront' if cost.wavefronts == 1 else 'wavefronts'}{queue}"
        )
    return text + (f", *{cost.atomics:,}* atomic operations" if cost.atomics else "")
