"""The movie of one or more launches: what a block does to memory, step by step.

One piece of HTML with its data, its pictures and its player (player.js) inside. The player is the
same in every movie; of several on a page the first one serves all.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..common.errors import VirtualGpuError
from ..common.lanes import WARP
from ..counts.recorder import Event
from .coding import addresses, shown_values, spans
from .film import ACCESSES, WITH_VALUES, Film, Recorded, Step, film_of
from .grids import Grid
from .layout import Layout, Place, layout_of
from .listing import listing
from .stage import poster_of, stage
from .still import still
from .strip import HEIGHTS, peaks, strip, summed

HERE = Path(__file__).parent
TOGETHER = (
    "All warps of the block advance together here, one statement at a time; on a device only "
    "barriers order them."
)
NO_CACHE = (
    "Used are the bytes that one request asks for: a later request may find the others in a cache, "
    "which is not modelled here."
)


@dataclass(frozen=True, eq=False)
class Movie:
    """Shows itself in a notebook; in words as a str. ``focus``: what it is about, ``reads``,
    ``sectors`` or ``banks``."""

    title: str
    films: tuple[Film, ...]
    focus: str

    @property
    def lead(self) -> str:
        """What runs: the block, its threads, its warps."""
        return "; ".join(dict.fromkeys(_block(film) for film in self.films))

    def __repr__(self) -> str:
        return f"<Movie: {self.title}: {', '.join(film.name for film in self.films)}>"

    def __str__(self) -> str:
        return "\n".join([self.title, *self.told])

    @property
    def told(self) -> list[str]:
        """The movie in words, without its title."""
        lines = [f"{self.lead}."]
        for film in self.films:
            steps = "1 step" if len(film.steps) == 1 else f"{len(film.steps)} steps"
            said = f"{film.name}: {steps}; {summed(film, self.focus)}."
            lines += [said.replace("*", ""), *film.remarks]
        return lines

    def _repr_html_(self) -> str:
        return _html(self)


def movie(*traces: Recorded, title: str = "", labels: tuple[str, ...] = (), focus: str = "reads"):
    """The movie of one trace, or of several that are compared.

    labels: the name of each, instead of the kernel's. Raises VirtualGpuError where a trace has no
    recording, or where the words or their number are wrong.
    """
    if not traces:
        raise VirtualGpuError("movie() was given no trace; it needs at least one.")
    if focus not in HEIGHTS:
        raise VirtualGpuError(f"focus={focus!r}; it must be one of {', '.join(HEIGHTS)}.")
    if labels and len(labels) != len(traces):
        raise VirtualGpuError(f"{len(labels)} labels for {len(traces)} traces: each needs one.")
    names = tuple(labels) or tuple(trace.kernel for trace in traces)
    films = tuple(film_of(one, name, focus) for one, name in zip(traces, names, strict=True))
    return Movie(title or " and ".join(dict.fromkeys(names)), films, focus)


def once_per_page(page: str) -> str:
    """A page of several movies with one player and one style sheet: those of the first."""
    for repeated in (_player(), _sheet()):
        first, found, rest = page.partition(repeated)
        page = first + found + rest.replace(repeated, "")
    return page


def _html(shown: Movie) -> str:
    highest = peaks(shown.films, shown.focus)
    layouts = [layout_of(film, shown.focus) for film in shown.films]
    data = [_data(film, at, shown) for film, at in zip(shown.films, layouts, strict=True)]
    coded = json.dumps({"focus": shown.focus, "films": data}, separators=(",", ":"))
    coded = coded.replace("<", "\\u003c")  # a source line must not end the script
    # The same movie has the same name, so that a page that is made again does not change.
    name = f"movie-{hashlib.sha256((shown.title + coded).encode()).hexdigest()[:10]}"
    stages = [
        stage(film, at, shown.focus, _first_warp(film, shown), f"{name}-{n}")
        for n, (film, at) in enumerate(zip(shown.films, layouts, strict=True))
    ]
    tabs = "".join(
        _tab(film, name, n, strip(film, highest, shown.focus), shown)
        for n, film in enumerate(shown.films)
    )
    bodies = "".join(
        _body(film, name, n, drawn, shown)
        for n, (film, drawn) in enumerate(zip(shown.films, stages, strict=True))
    )
    filled = {
        "NAME": name, "FOCUS": shown.focus, "TITLE": html.escape(shown.title),
        "LEAD": html.escape(shown.lead), "TABS": tabs, "BODIES": bodies,
        "NOTES": _notes(shown), "STILL": _still(shown, layouts, stages),
    }  # fmt: skip
    frame = (HERE / "movie.html").read_text(encoding="utf-8")
    for key, text in filled.items():
        frame = frame.replace(f"@{key}@", text)
    start = f'(window["{_key()}"]=window["{_key()}"]||[]).push(["{name}",{coded}])'
    return f"{_sheet()}{frame}{_player()}<script>{start}</script>"


@cache
def _sheet() -> str:
    rules = (HERE / "stage.css").read_text("utf-8") + (HERE / "player.css").read_text("utf-8")
    return f"<style>{_shorter(rules)}</style>"


@cache
def _key() -> str:
    """Of the player on `window`: movies of another version bring another player."""
    text = (HERE / "player.js").read_bytes()
    return f"virtualGpuMovie{hashlib.sha256(text).hexdigest()[:8]}"


@cache
def _player() -> str:
    text = (HERE / "player.js").read_text(encoding="utf-8").replace("@KEY@", _key())
    return f"<script>{_shorter(text)}</script>"


def _shorter(text: str) -> str:
    """Without comments that fill a line, and without indentation."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(("//", "/*")))


def _tab(film: Film, name: str, number: int, bars: str, shown: Movie) -> str:
    said = re.sub(r"\*([^*]+)\*", r"<b>\1</b>", html.escape(summed(film, shown.focus)))
    return (
        f'<button type="button" class="vm-tab" role="tab" aria-selected="false" '
        f'aria-controls="{name}-film{number}"><span class="vm-name">{html.escape(film.name)}</span>'
        f'{bars}<span class="vm-sum">{said}</span></button>'
    )


def _body(film: Film, name: str, number: int, drawn: str, shown: Movie) -> str:
    at = poster_of(film, shown.focus)
    remarks = "".join(f"<p>{html.escape(said)}</p>" for said in film.remarks)
    return (
        f'<section class="vm-film" id="{name}-film{number}" role="tabpanel" '
        f'aria-label="{html.escape(film.name)}"><p class="vm-caption">'
        f"{html.escape(_caption(film, at))}</p>"
        f'<div class="vm-left">{listing(film, film.steps[at].row)}<div class="vm-stats"></div>'
        f'<div class="vm-detail"></div></div><div class="vm-right">{drawn}'
        f'<div class="vm-threads"></div><div class="vm-memory"></div></div>'
        f'<div class="vm-remarks">{remarks}</div></section>'
    )


def _caption(film: Film, at: int) -> str:
    """What the poster shows, where nothing can be played."""
    line = film.rows[film.steps[at].row].number
    return f"{film.name}: step {at + 1} of {len(film.steps)}, source line {line}"


def _notes(shown: Movie) -> str:
    notes = [TOGETHER] + ([NO_CACHE] if shown.focus == "sectors" else [])
    return " ".join(notes)


def _still(shown: Movie, layouts: list[Layout], stages: list[str]) -> str:
    """For a place that takes away scripts, styles and SVG: words, and each stage as an image."""
    rules = _shorter((HERE / "stage.css").read_text("utf-8"))
    images = "".join(
        f"<p>{html.escape(_caption(film, poster_of(film, shown.focus)))}</p>"
        + still(drawn, alt=film.name, rules=rules, width=420)
        for film, drawn in zip(shown.films, stages, strict=True)
    )
    words = "".join(f"<p>{html.escape(line)}</p>" for line in shown.told)
    return f'<div class="vm-still">{words}{images}</div>'


def _block(film: Film) -> str:
    """A sentence about the block that is shown."""
    x, y, z = film.recording.shape
    shape = "×".join(str(n) for n in (x, y, z)[: 3 if z > 1 else 2 if y > 1 else 1])
    if film.threads < WARP:
        warps = f"one warp, {film.threads} of its {WARP} lanes in use"
    else:
        warps = "one warp" if film.warps == 1 else f"{film.warps} warps of {WARP} lanes"
    at = film.recording.block[: 3 if z > 1 else 2 if y > 1 else 1]
    place = f"({', '.join(map(str, at))})"
    return f"Block {place} of {shape} threads: {warps}"


def _first_warp(film: Film, shown: Movie) -> int | None:
    """Whose accesses are shown at first: requests are a warp's, so one warp where they count."""
    return 0 if shown.focus == "sectors" and film.warps > 1 else None


# ---- what the player gets ----


def _data(film: Film, at: Layout, shown: Movie) -> dict:
    home = film.home
    return {
        "name": film.name,
        "block": film.recording.shape,
        "warp": _first_warp(film, shown),
        "poster": poster_of(film, shown.focus),
        "lines": [row.number for row in film.rows],
        "arrays": [_array(g, p) for g, p in zip(film.grids, at.places, strict=True)],
        "home": home and {"array": film.grid(home.array), **_who(home, film)},
        "values": film.with_values,
        "steps": [_step(step, film) for step in film.steps],
    }


def _array(grid: Grid, place: Place) -> dict:
    array = grid.array
    return {
        "name": array.name, "space": array.space, "shape": array.shape, "strides": array.strides,
        "bytes": array.itemsize, "wrap": grid.wrap, "down": grid.down, "flat": grid.flat,
        "rows": spans(grid.rows), "columns": spans(grid.columns), "banks": place.banks,
        "x": round(place.x, 2), "y": round(place.y, 2),
        "w": round(place.width, 4), "h": round(place.height, 4),
    }  # fmt: skip


def _step(step: Step, film: Film) -> dict:
    if step.left_out:
        return {"row": step.row, "gap": step.left_out}
    return {"row": step.row, "does": [_event(event, step.row, film) for event in step.events]}


def _event(event: Event, row: int, film: Film) -> dict:
    coded = {"kind": event.kind, **_who(event, film)}
    few = film.threads <= WITH_VALUES
    if event.kind in ACCESSES:
        number = film.grid(event.array)
        coded |= {"array": number, "width": event.width}
        parts = film.parts.get((row, event.array, event.kind), 1)
        if parts > 1:
            coded["parts"] = parts
        few = film.grids[number].lengths[0] * film.grids[number].wrap <= WITH_VALUES
    if event.values is not None and few:
        coded["values"] = shown_values(event.values)
    if event.sources is not None:
        coded["from"] = _from(event, film)
    return coded


def _from(event: Event, film: Film) -> dict:
    return addresses(event.sources, film.recording.shape)


def _who(event: Event, film: Film) -> dict:
    return addresses(event.first, film.recording.shape)
