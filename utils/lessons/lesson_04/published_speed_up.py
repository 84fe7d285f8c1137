"""A published speed-up as bars: the fraction that Araujo printed, and the repaired one."""

from __future__ import annotations

from dataclasses import dataclass

from utils.figures.roles import COPY, KERNEL
from utils.lessons.published import published_ms
from utils.measuring import records
from utils.translation import translate
from virtual_gpu.pictures.svg import GREY, Picture, legend, rect, svg, text

CPU_DEBUG = "built with -pg"  # the published times of the CPU, as `claims.csv` calls them
CPU_OPTIMISED = "ten sequential products, whole"
LEFT, LONGEST, BAR, PITCH = 4, 380, 20, 50


@dataclass(frozen=True)
class Fraction:
    """A speed-up: the milliseconds of a CPU divided by those of a GPU.

    cpu, gpu: the two times in ms, as the fraction has them. kernel, copies: the two parts of `gpu`
    in ms, before rounding.
    """

    cpu: float
    gpu: float
    kernel: float
    copies: float

    @property
    def times(self) -> float:
        """The speed-up, `cpu` divided by `gpu`, not rounded."""
        return self.cpu / self.gpu

    def __str__(self) -> str:
        return f"{self.cpu:.0f} ms ÷ {self.gpu:g} ms = {self.times:.0f}"


def kernel_ms() -> float:
    """Return the published time of Araujo's kernel for one product of 2000×600×2000, in ms."""
    return published_ms("naive", 1)


def copies_ms() -> float:
    """Return the published time of the copies of one product by Araujo, in ms."""
    rows = records.published("transfers")
    return float(rows[rows["note"].str.contains("of the naive run", na=False)]["time_ms"].sum())


def cpu_ms(build: str) -> float:
    """Return the published time of one product on the CPU, in ms.

    build: `CPU_DEBUG` or `CPU_OPTIMISED`. The optimised program was timed for ten products.
    """
    claims = records.published("claims")
    (seconds,) = claims[claims["claim"].str.contains(build, regex=False)]["value"]
    return 1000 * float(seconds) / (10 if build == CPU_OPTIMISED else 1)


def printed() -> Fraction:
    """Return Araujo's printed fraction, whose GPU has one kernel and the copies of ten products.

    The CPU time is that of a build with -pg, for one product. The GPU time is cut to whole ms.
    """
    kernel, copies = kernel_ms(), 10 * copies_ms()
    return Fraction(cpu_ms(CPU_DEBUG), int(kernel + copies), kernel, copies)


def repaired() -> Fraction:
    """Return the fraction of one product: the optimised CPU program over one kernel and its copies.

    The CPU time is rounded to whole ms, and the GPU time to tenths.
    """
    kernel, copies = kernel_ms(), copies_ms()
    return Fraction(round(cpu_ms(CPU_OPTIMISED)), round(kernel + copies, 1), kernel, copies)


def draw(title: str, fraction: Fraction) -> Picture:
    """Draw the two times of a fraction to scale, and the parts of the GPU's time enlarged."""
    parts = ((fraction.kernel, KERNEL), (fraction.copies, COPY))
    heading = f"{translate(title)}: {fraction}"
    body = text(LEFT, 14, heading, 13, font_weight="bold")
    body += _row(0, translate("one product on the CPU"), fraction.cpu, ((fraction.cpu, GREY),))
    body += text(LEFT + 8, 59, f"{fraction.cpu:,.0f} ms", 12, fill="#111")
    body += _row(1, translate("one product on the GPU, with its copies"), fraction.cpu, parts)
    body += text(LEFT + 12, 59 + PITCH, f"{fraction.gpu:g} ms", 12)
    whole = fraction.kernel + fraction.copies
    body += _row(2, translate("the same time of the GPU, enlarged"), whole, parts)
    end = LEFT + LONGEST * fraction.kernel / whole
    labels = f"{fraction.kernel:.1f} ms", f"{fraction.copies:.1f} ms"
    body += text(LEFT + 8, 59 + 2 * PITCH, labels[0], 12, fill="#111")
    if end + 60 < LONGEST:
        body += text(round(end + 8), 59 + 2 * PITCH, labels[1], 12, fill="#111")
    else:
        body += text(LEFT + LONGEST + 6, 59 + 2 * PITCH, labels[1], 12)
    alt = f"{heading}. The GPU's time is {labels[0]} of the kernel and {labels[1]} of the copies."
    key = legend(kernel=KERNEL, copies=COPY)
    return Picture(key + svg(LEFT + LONGEST + 52, 76 + 2 * PITCH, body, alt, widest=560), alt)


def _row(row: int, name: str, longest: float, parts: tuple[tuple[float, str], ...]) -> str:
    """Return the SVG of a named bar of parts, each with its milliseconds and its colour.

    row: from 0 at the top. longest: the milliseconds of a bar of full length.
    """
    x, y = float(LEFT), 38 + PITCH * row
    body = text(LEFT, y, name, 12)
    for ms, colour in parts:
        width = max(ms * LONGEST / longest, 0.8)
        body += rect(round(x, 1), y + 6, round(width, 1), BAR, colour)
        x += width
    return body
