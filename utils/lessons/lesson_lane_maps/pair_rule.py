"""A picture of the pair rule: 32 lanes, which the reader moves to quads, and the wavefronts.

A quad is four consecutive words in shared memory, which a lane reads at once.
"""

from __future__ import annotations

import html
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from utils.lessons.lesson_lane_maps.lane_maps import LANES, SLOTS, wavefronts_of
from utils.translation import translate
from virtual_gpu.pictures.svg import KEEP_KEYS, LEAVE_KEYS

_SCRIPT = Path(__file__).with_suffix(".js")
_numbers = itertools.count(1)
# The quad of each lane, by the words on the button that arranges the lanes like this.
ARRANGEMENTS = {
    "side by side": [lane % 8 for lane in range(LANES)],
    "neighbours together": [lane // 2 % 8 for lane in range(LANES)],
    "next neighbours but one together": [lane // 4 * 2 % 8 + lane % 2 for lane in range(LANES)],
}
_STYLE = """<style>
.pair-rule {margin: 8px 0; max-width: 720px}
.pair-rule .quads {display: grid; grid-template-columns: repeat(8, minmax(0, 1fr)); gap: 4px}
.pair-rule .quad {border: 1px solid rgba(128,128,128,.6); border-radius: 3px; padding: 2px;
 min-height: 7.5em; font-size: 12px; text-align: center; display: flex; flex-wrap: wrap;
 align-content: flex-start; gap: 2px}
.pair-rule .quad > span {flex: 1 0 100%; opacity: .8}
.pair-rule .lane {font: inherit; color: inherit; background: rgba(128,128,128,.18); cursor: grab;
 border: 2px solid transparent; border-radius: 3px; padding: 1px 0; min-width: 28px; flex: 0 1 28px}
.pair-rule .lane.apart {border-color: #d1690e}
.pair-rule .lane.chosen {background: #1f7fc4; color: #fff}
.pair-rule .lane:focus-visible {outline: 2px solid #1f7fc4; outline-offset: 1px}
.pair-rule .presets, .pair-rule .help {display: none}
.pair-rule[data-alive] .presets, .pair-rule[data-alive] .help {display: block}
.pair-rule .presets button {font: inherit; margin: 0 6px 6px 0}
.pair-rule .count {font-weight: 600}
</style>"""


@dataclass(frozen=True)
class PairRule:
    """The lanes of a warp and the quad that each reads, as a picture whose lanes can be moved.

    quads: the index of the quad per lane, 0 to 7. `str` returns the wavefronts and the reason in
    words, as they are shown without scripts.
    """

    quads: tuple[int, ...]

    def __str__(self) -> str:
        return f"{_count(self.quads)} {_reason(self.quads)}"

    def __repr__(self) -> str:
        return f"<PairRule: {self}>"

    def _repr_html_(self) -> str:
        name, script = f"pair-rule-{next(_numbers)}", _SCRIPT.read_text(encoding="utf-8")
        group = html.escape(translate("The quad that each lane reads"))
        words = html.escape(json.dumps(_words()))
        columns = "".join(_column(self.quads, quad) for quad in range(SLOTS))
        return (
            f'{_STYLE}<div class="pair-rule" id="{name}" role="group" aria-label="{group}" '
            f'data-words="{words}"><div class="presets">{_buttons()}</div>'
            f'<div class="quads">{columns}</div><div aria-live="polite">'
            f'<p class="count">{_count(self.quads)}</p><p class="why">{_reason(self.quads)}</p>'
            f'</div><p class="help">{_help()}</p>'
            f"</div>{LEAVE_KEYS}<script>{script.replace('@ID@', name)}</script>"
        )


def draw_pair_rule(quads: Sequence[int] = ARRANGEMENTS["side by side"]) -> PairRule:
    """Return a picture in which the reader moves lanes between quads and sees the wavefronts.

    quads: the index of the quad that each lane reads at first, 0 to 7. The eight quads are in
    different banks, so the number of wavefronts depends on the pairs of lanes alone.
    """
    return PairRule(tuple(quads))


def _words() -> dict[str, str]:
    """Return key -> sentence in the reader's language, for the picture and its script.

    The keys are "count", "neighbours", "butOne" and "apart". The sentences keep placeholders such
    as {count}, which are replaced by numbers later.
    """
    return {
        "count": translate("{count} wavefronts", count="{count}"),
        "neighbours": translate(
            "All neighbours read the same quad, so half a warp is served at a time."
        ),
        "butOne": translate(
            "All next neighbours but one read the same quad, so half a warp is served at a time."
        ),
        "apart": translate(
            "Lanes {first} and {partner} read different quads, and so do lanes {second} and "
            "{other}. So eight lanes are served at a time.",
            first="{first}",
            partner="{partner}",
            second="{second}",
            other="{other}",
        ),
    }


def _count(quads: Sequence[int]) -> str:
    """Return a sentence with the number of wavefronts of the read.

    quads: the index of the quad that each lane reads, from lane 0 on.
    """
    sent = wavefronts_of(lambda lane: (0, quads[lane]))
    return _words()["count"].format(count=sum(one.array == "b" for one in sent))


def _reason(quads: Sequence[int]) -> str:
    """Return a sentence on why half a warp or only eight lanes are served at a time.

    It is half a warp if all lanes with the distance 1, or all with the distance 2, read the same
    quad. quads: the index of the quad that each lane reads, from lane 0 on.
    """
    first, second = (_apart(quads, distance) for distance in (1, 2))
    if first is None:
        return _words()["neighbours"]
    if second is None:
        return _words()["butOne"]
    return _words()["apart"].format(first=first, partner=first ^ 1, second=second, other=second ^ 2)


def _apart(quads: Sequence[int], distance: int) -> int | None:
    """Return the first lane whose quad is not that of lane ^ distance; None if all quads agree."""
    lanes = (lane for lane in range(LANES) if quads[lane] != quads[lane ^ distance])
    return next(lanes, None)


def _column(quads: Sequence[int], quad: int) -> str:
    """Return the HTML of one quad, with a button per lane that reads it.

    quads: the index of the quad that each lane reads. quad: the index of this quad.
    """
    lanes = "".join(_lane(lane) for lane in range(LANES) if quads[lane] == quad)
    title = translate("quad {quad}", quad=quad)
    return f'<div class="quad"><span>{title}</span>{lanes}</div>'


def _lane(lane: int) -> str:
    """Return the HTML of the button of a lane."""
    label = html.escape(translate("lane {lane}", lane=lane))
    return (
        f'<button type="button" class="lane" data-lane="{lane}" draggable="true" '
        f'aria-label="{label}" aria-pressed="false" {KEEP_KEYS}>{lane}</button>'
    )


def _buttons() -> str:
    """Return the HTML of one button per entry of `ARRANGEMENTS`."""
    return "".join(
        f'<button type="button" data-quads="{json.dumps(quads)}" {KEEP_KEYS}>'
        f"{html.escape(translate(words))}</button>"
        for words, quads in ARRANGEMENTS.items()
    )


def _help() -> str:
    """Return the sentences, in the reader's language, on how lanes are moved."""
    return translate(
        "Drag a lane to another quad, or click the lane and then the quad. With the keyboard: the "
        "left and right arrows move the lane that has the focus. Orange frames mark lanes that do "
        "not agree."
    )
