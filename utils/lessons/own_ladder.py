"""My ladder: every kernel that the reader wrote, as a staircase in the order of the lessons."""

from __future__ import annotations

from collections.abc import Mapping

from tqdm.auto import tqdm

from utils.errors import CourseError
from utils.figures.kernel_bars import Stair, draw_stairs
from utils.ladder import kept_functions
from utils.ladder.ladder import ladder_of
from utils.ladder.step import Variant
from utils.lessons.bounds import bounds_of, tightest
from utils.lessons.cards import Card, Stack
from utils.lessons.lesson import device_shown
from utils.lessons.own_kernels import mine, twins
from utils.lessons.races import raced
from utils.machine import devices
from utils.translation import translate
from virtual_gpu.pictures.svg import Picture


def my_ladder() -> Picture | Stack | Card:
    """Draw every right GPU kernel of the reader's that a step of the course can be compared with.

    They are in the order of the lessons. A bar is the share of the data sheet's peak that the
    tightest bound allows at the lesson's shape, and on a GPU also the share that is measured there.

    Returns
    -------
    Picture, Stack or Card
        The bars, with a card below them on kernels that could not be drawn. A card alone if there
        is no such kernel yet, or if none of them could be drawn.
    """
    names = _kept_in_order()
    if not names:
        sentence = translate(
            "Your ladder is empty yet: it gets a stair for each kernel of the lessons 05 to 20 "
            "that `check` finds right."
        )
        return Card("ask", (sentence,))
    stairs, left = [], {}
    for name in tqdm(names, desc=translate("Your kernels"), leave=False, delay=3):
        try:
            stairs.append(_stair(name))
        except CourseError as error:
            left[name] = str(error)
    return _shown(stairs, left)


def _without_a_stair() -> str:
    """Return a sentence that names the right kernels without a step to compare; "" if none."""
    names = [name for name in kept_functions.kept_names() if name not in twins()]
    # Only kernels have a launch to configure, whichever compiler they are of.
    kernels = [name for name in names if hasattr(_kept_or_none(name), "configure")]
    if not kernels:
        return ""
    return translate(
        "These kernels of yours have no stair, because the course has no step that does the same "
        "work at a recorded size: {names}.",
        names=", ".join(f"`{name}`" for name in kernels),
    )


def _kept_or_none(name: str):
    """Return the kept function of an exercise; None if the reader has broken its file."""
    try:
        return mine(name)
    except CourseError:
        return None


def _kept_in_order() -> list[str]:
    """Return the names of the exercises with a kept right kernel for a GPU, in the lessons' order.

    Exercises without a step of the course that does the same work are left out.
    """
    kept = [name for name in twins() if kept_functions.kept_text(name)]
    on_gpu = [name for name in kept if ladder_of(twins()[name].step).on_gpu]
    return sorted(on_gpu, key=lambda name: twins()[name].lesson)


def _stair(name: str) -> Stair:
    """Return the bar of a kernel; raise CourseError if it cannot be counted or is not right.

    name: the exercise's name.
    """
    twin, variant = twins()[name], mine(name)
    limit, ms = tightest(bounds_of(variant, twin.shape))
    measured = None
    if devices.current() is not None:
        own, _ = raced(name)
        measured = own.efficiency
    return Stair(twin.lesson, name, share_of_peak_at(variant, twin.shape, ms), limit, measured)


def share_of_peak_at(variant: Variant, shape: str, ms: float) -> float:
    """Return the fraction of the data sheet's peak that a kernel reaches if it takes `ms`.

    ms: milliseconds. The peak is that of arithmetic for a product, and that of memory for other
    tasks, of the device shown. shape: as on the command line.
    """
    device, work = device_shown(), variant.step.task.work(ladder_of(variant.step).parse(shape))
    if work.flops:
        return work.flops / ms / 1e6 / device.peak_gflops
    return work.bytes / ms / 1e6 / device.peak_gb_per_s


def _shown(stairs: list[Stair], left: Mapping[str, str]) -> Picture | Stack | Card:
    """Return the picture of the bars, and below it a card on other kernels if there are any.

    Without any bar, the card is returned alone. left: exercise -> why its kernel could not be
    drawn.
    """
    sentences = [*(f"`{name}`: {why}" for name, why in left.items()), _without_a_stair()]
    card = Card("ask", tuple(filter(None, sentences)))
    if not stairs:
        return card
    here = devices.current()
    title = translate("My ladder, one {device}", device=device_shown().name)
    if here and here.name != device_shown().name:
        title = translate(
            "My ladder, bounds of one {device}, measured on one {here}",
            device=device_shown().name,
            here=here.name,
        )
    picture = draw_stairs(title, stairs)
    return Stack((picture, card)) if card.sentences else picture
