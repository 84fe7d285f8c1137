"""The movie of one or more launches: a block's memory accesses, step by step.

A movie is HTML that contains its data, its pictures and its player (player.js). The player is the
same in every movie; if a page has several movies, the first player serves all of them.
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
from .encoding import addresses, shown_values, spans
from .film import ACCESSES, WITH_VALUES, Film, FilmStep, RecordedTrace, film_of
from .grids import ArrayGrid
from .layout import ArrayPlacement, FilmLayout, layout_of
from .listing import listing
from .stage import poster_of, stage
from .static_image import static_image
from .step_bars import HEIGHTS, peaks, step_bars, summary
from .svg import LEAVE_KEYS

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
    """A movie of one film or of several films to compare; a notebook displays it.

    ``focus`` is its subject: "reads", "sectors" or "banks". ``opens`` is the step at which the
    player opens each film, counted from 1. ``str()`` describes the movie in words. ``title`` is its
    heading.
    """

    title: str
    films: tuple[Film, ...]
    focus: str
    opens: int = 1

    @property
    def lead(self) -> str:
        """The recorded blocks as text, with the coordinates, threads and warps of each block.

        For one block it is such as ``Block (0, 1) of 32×2 threads: 2 warps of 32 lanes``.
        """
        return "; ".join(dict.fromkeys(_block(film) for film in self.films))

    def __repr__(self) -> str:
        return f"<Movie: {self.title}: {', '.join(film.name for film in self.films)}>"

    def __str__(self) -> str:
        return "\n".join([self.title, *self.sentences])

    @property
    def sentences(self) -> list[str]:
        """The description of the movie as a list of sentences, without its title.

        The first names the recorded blocks. Then follow, per film, its steps and costs and its
        remarks.
        """
        lines = [f"{self.lead}."]
        for film in self.films:
            steps = "1 step" if len(film.steps) == 1 else f"{len(film.steps)} steps"
            totals = f"{film.name}: {steps}; {summary(film, self.focus)}."
            lines += [totals.replace("*", ""), *film.remarks]
        return lines

    def _repr_html_(self) -> str:
        return _html(self)


def movie(
    *traces: RecordedTrace,
    title: str = "",
    labels: tuple[str, ...] = (),
    focus: str = "reads",
    opens: int = 1,
) -> Movie:
    """Return the Movie of one trace, or of several traces to compare.

    ``labels`` are the names of the traces, instead of their kernels' names. ``focus`` is the
    subject: "reads", "sectors" or "banks". Without a ``title``, the names are the title. ``opens``
    is the step at which the player opens each film, counted from 1. Raises VirtualGpuError if there
    is no trace, if a trace has no recording or a recording without any access, if ``focus`` is
    unknown, if a film has no such step, or if there is not one label per trace.
    """
    if not traces:
        raise VirtualGpuError("movie() was given no trace; it needs at least one.")
    if focus not in HEIGHTS:
        raise VirtualGpuError(f"focus={focus!r}; it must be one of {', '.join(HEIGHTS)}.")
    if labels and len(labels) != len(traces):
        raise VirtualGpuError(f"{len(labels)} labels for {len(traces)} traces: each needs one.")
    names = tuple(labels) or tuple(trace.kernel for trace in traces)
    films = tuple(film_of(trace, name, focus) for trace, name in zip(traces, names, strict=True))
    fewest = min(len(film.steps) for film in films)
    if not 1 <= opens <= fewest:
        raise VirtualGpuError(f"opens={opens}; it must be a step of each film, from 1 to {fewest}.")
    return Movie(title or " and ".join(dict.fromkeys(names)), films, focus, opens)


def once_per_page(page: str) -> str:
    """Return a page of several movies, as HTML, with the player and the style sheet only once.

    Of each of the two, the first copy in the page remains.
    """
    for repeated in (_player(), _sheet()):
        before, first, rest = page.partition(repeated)
        page = before + first + rest.replace(repeated, "")
    return page


def _html(movie: Movie) -> str:
    """Return the HTML of a movie: style sheet, page, player and data."""
    highest = peaks(movie.films, movie.focus)
    layouts = [layout_of(film, movie.focus) for film in movie.films]
    data = [_data(film, layout, movie) for film, layout in zip(movie.films, layouts, strict=True)]
    plan = {"focus": movie.focus, "opens": movie.opens - 1, "films": data}
    encoded = json.dumps(plan, separators=(",", ":"))
    encoded = encoded.replace("<", "\\u003c")  # a source line must not end the script
    # The name depends on the content only, so that a page does not change when it is made again.
    name = f"movie-{hashlib.sha256((movie.title + encoded).encode()).hexdigest()[:10]}"
    stages = [
        stage(film, layout, movie.focus, _first_warp(film, movie), f"{name}-{n}")
        for n, (film, layout) in enumerate(zip(movie.films, layouts, strict=True))
    ]
    tabs = "".join(
        _tab(film, name, n, step_bars(film, highest, movie.focus), movie)
        for n, film in enumerate(movie.films)
    )
    bodies = "".join(
        _body(film, name, n, drawn, movie)
        for n, (film, drawn) in enumerate(zip(movie.films, stages, strict=True))
    )
    fields = {
        "NAME": name, "FOCUS": movie.focus, "TITLE": html.escape(movie.title),
        "LEAD": html.escape(movie.lead), "TABS": tabs, "BODIES": bodies,
        "NOTES": _notes(movie), "STILL": _static_version(movie, stages),
    }  # fmt: skip
    page = (HERE / "movie.html").read_text(encoding="utf-8")
    for key, text in fields.items():
        page = page.replace(f"@{key}@", text)
    start = f'(window["{_key()}"]=window["{_key()}"]||[]).push(["{name}",{encoded}])'
    return f"{_sheet()}{page}{LEAVE_KEYS}{_player()}<script>{start}</script>"


@cache
def _sheet() -> str:
    """Return the style sheet of all movies as an HTML element."""
    rules = (HERE / "stage.css").read_text("utf-8") + (HERE / "player.css").read_text("utf-8")
    return f"<style>{_shorter(rules)}</style>"


@cache
def _key() -> str:
    """Return the name of the list of movies on `window` that this version of the player reads.

    It contains a hash of player.js, because several versions may share a page.
    """
    text = (HERE / "player.js").read_bytes()
    return f"virtualGpuMovie{hashlib.sha256(text).hexdigest()[:8]}"


@cache
def _player() -> str:
    """Return the player as an HTML script element."""
    text = (HERE / "player.js").read_text(encoding="utf-8").replace("@KEY@", _key())
    return f"<script>{_shorter(text)}</script>"


def _shorter(text: str) -> str:
    """Return CSS or JavaScript without indentation, blank lines and lines that are a comment."""
    lines = (line.strip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(("//", "/*")))


def _tab(film: Film, name: str, number: int, bars: str, movie: Movie) -> str:
    """Return the HTML button that selects film ``number``, with its ``bars`` and its total cost.

    ``name`` is the id of the movie. ``bars`` is SVG.
    """
    totals = re.sub(r"\*([^*]+)\*", r"<b>\1</b>", html.escape(summary(film, movie.focus)))
    return (
        f'<button type="button" class="vm-tab" role="tab" aria-selected="false" '
        f'aria-controls="{name}-film{number}"><span class="vm-name">{html.escape(film.name)}</span>'
        f'{bars}<span class="vm-sum">{totals}</span></button>'
    )


def _body(film: Film, name: str, number: int, drawn: str, movie: Movie) -> str:
    """Return the HTML of film ``number``, in which ``drawn`` is the SVG of its stage.

    ``name`` is the id of the movie.
    """
    poster = poster_of(film, movie.focus)
    remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in film.remarks)
    return (
        f'<section class="vm-film" id="{name}-film{number}" role="tabpanel" '
        f'aria-label="{html.escape(film.name)}"><p class="vm-caption">'
        f"{html.escape(_caption(film, poster))}</p>"
        f'<div class="vm-left">{listing(film, film.steps[poster].row)}<div class="vm-stats"></div>'
        f'<div class="vm-detail"></div></div><div class="vm-right">{drawn}'
        f'<div class="vm-threads"></div><div class="vm-memory"></div></div>'
        f'<div class="vm-remarks">{remarks}</div></section>'
    )


def _caption(film: Film, step: int) -> str:
    """Return the caption of a step, such as ``name: step 3 of 9, source line 12``.

    It is shown if scripts do not run. ``step`` is an index, which the caption counts from 1.
    """
    line = film.rows[film.steps[step].row].number
    return f"{film.name}: step {step + 1} of {len(film.steps)}, source line {line}"


def _notes(movie: Movie) -> str:
    """Return the sentences below a movie, joined by spaces: what the movie does not model.

    The sentence on caches is there only if the movie's focus is "sectors".
    """
    notes = [TOGETHER] + ([NO_CACHE] if movie.focus == "sectors" else [])
    return " ".join(notes)


def _static_version(movie: Movie, stages: list[str]) -> str:
    """Return HTML with the movie's sentences and an image per film.

    It is for pages that remove scripts, styles and SVG. ``stages`` holds the SVG of each film.
    """
    rules = _shorter((HERE / "stage.css").read_text("utf-8"))
    images = "".join(
        f"<p>{html.escape(_caption(film, poster_of(film, movie.focus)))}</p>"
        + static_image(drawn, alt=film.name, rules=rules, width=420)
        for film, drawn in zip(movie.films, stages, strict=True)
    )
    words = "".join(f"<p>{html.escape(line)}</p>" for line in movie.sentences)
    return f'<div class="vm-still">{words}{images}</div>'


def _block(film: Film) -> str:
    """Return text such as ``Block (0, 1) of 32×2 threads: 2 warps of 32 lanes``."""
    x, y, z = film.recording.shape
    shape = "×".join(str(n) for n in (x, y, z)[: 3 if z > 1 else 2 if y > 1 else 1])
    if film.threads < WARP:
        warps = f"one warp, {film.threads} of its {WARP} lanes in use"
    else:
        warps = "one warp" if film.warps == 1 else f"{film.warps} warps of {WARP} lanes"
    coordinates = film.recording.block[: 3 if z > 1 else 2 if y > 1 else 1]
    place = f"({', '.join(map(str, coordinates))})"
    return f"Block {place} of {shape} threads: {warps}"


def _first_warp(film: Film, movie: Movie) -> int | None:
    """Return the number of the warp whose accesses are shown at first; None for all warps.

    With the focus on sectors, and in a block of several warps, it is warp 0, because a request
    belongs to one warp. Otherwise it is None.
    """
    return 0 if movie.focus == "sectors" and film.warps > 1 else None


# ---- the data for the player ----


def _data(film: Film, layout: FilmLayout, movie: Movie) -> dict:
    """Return the data of a film for player.js as a dict of plain JSON values.

    The keys are "name", "block" (threads in x, y and z), "warp" (``_first_warp``), "lines" (line
    numbers of the rows), "arrays" (``_array``), "home" (the elements of ``Film.home`` or None),
    "values" (whether values were recorded) and "steps" (``_step``).
    """
    home = film.home
    return {
        "name": film.name,
        "block": film.recording.shape,
        "warp": _first_warp(film, movie),
        "lines": [row.number for row in film.rows],
        "arrays": [_array(g, p) for g, p in zip(film.grids, layout.places, strict=True)],
        "home": home and {"array": film.grid(home.array), **_elements(home, film)},
        "values": film.with_values,
        "steps": [_step(step, film) for step in film.steps],
    }


def _array(grid: ArrayGrid, place: ArrayPlacement) -> dict:
    """Return an array and its placement for player.js, as a dict of plain JSON values.

    The keys are "name", "space", "shape", "strides" (in elements) and "bytes" (per element) of the
    array; "wrap", "down", "flat", "rows" and "columns" of its ArrayGrid, the last two encoded by
    ``spans``; "banks" of the placement; and "x", "y", "w" and "h", the position and size of the
    first cell.
    """
    array = grid.array
    return {
        "name": array.name, "space": array.space, "shape": array.shape, "strides": array.strides,
        "bytes": array.itemsize, "wrap": grid.wrap, "down": grid.down, "flat": grid.flat,
        "rows": spans(grid.rows), "columns": spans(grid.columns), "banks": place.banks,
        "x": round(place.x, 2), "y": round(place.y, 2),
        "w": round(place.width, 4), "h": round(place.height, 4),
    }  # fmt: skip


def _step(step: FilmStep, film: Film) -> dict:
    """Return a step for player.js as a dict: its row with its events, or the number left out.

    The keys are ``row`` and ``does``, a list of dicts of events, or ``row`` and ``gap``.
    """
    if step.left_out:
        return {"row": step.row, "gap": step.left_out}
    return {"row": step.row, "does": [_event(event, step.row, film) for event in step.events]}


def _event(event: Event, row: int, film: Film) -> dict:
    """Return an event for player.js as a dict of plain JSON values.

    ``row`` is the index of the event's source row. The keys are "kind" and those of ``_elements``.
    An access also has "array", the index of its array in the film, and "width", the elements per
    thread; it has "parts", the number of requests, if the compiler divides it. "values" are there
    if they were recorded and are few, and "from", the lanes that a shuffle reads, for a shuffle.
    """
    encoded = {"kind": event.kind, **_elements(event, film)}
    few = film.threads <= WITH_VALUES
    if event.kind in ACCESSES:
        number = film.grid(event.array)
        encoded |= {"array": number, "width": event.width}
        parts = film.parts.get((row, event.array, event.kind), 1)
        if parts > 1:
            encoded["parts"] = parts
        few = film.grids[number].lengths[0] * film.grids[number].wrap <= WITH_VALUES
    if event.values is not None and few:
        encoded["values"] = shown_values(event.values)
    if event.sources is not None:
        encoded["from"] = addresses(event.sources, film.recording.shape)
    return encoded


def _elements(event: Event, film: Film) -> dict:
    """Return the first element that each thread accesses, as the dict of ``addresses``."""
    return addresses(event.first, film.recording.shape)
