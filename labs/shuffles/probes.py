"""What goes wrong with shuffles: masks, lanes that do not come, and who has the sum at the end."""

from __future__ import annotations

import ast
import re

import numpy as np

from labs.run import Run
from labs.shared_memory import calls, in_shared
from labs.words import at, counted, element
from utils.virtual_gpu import Finding
from utils.virtual_gpu.source import read_source

WARP, WARPS = 32, 8
DOWN = "shfl_down_sync"
_LANES = re.compile(r"names the lanes (0x\w+); its warp's lanes (0x\w+) take part")
_SIZE = re.compile(r"has (\d+) elements")


# -------------------------------------------------------------------------- what cannot be compiled


def other_arguments(kernel, message: str) -> str | None:
    """The mask is missing, or stands in another place."""
    if "shfl_" not in message or not re.search(r"called with these|mask, lane or pred", message):
        return None
    name = re.search(r"shfl_\w+", message)[0]
    return (
        f"`cuda.{name}` takes three arguments, in this order: the mask, which is a whole number, "
        "the value that the lanes hand on, and the distance."
    )


# ------------------------------------------------------------------- what the virtual GPU has found


def left_before_a_shuffle(seen: Run, finding: Finding) -> str | None:
    """Threads without an element have left, and a lane reads what they would hold."""
    gone = [node.lineno for node in ast.walk(seen.tree) if isinstance(node, ast.Return)]
    if not _is_shuffle(finding) or not gone or min(gone) > finding.line:
        return None
    return (
        f"Some threads leave at `return` in line {min(gone)}, and lanes of their warp still read "
        "what these hold. A thread without an element must stay, with a zero."
    )


def lanes_missing(seen: Run, finding: Finding) -> str | None:
    """A shuffle in a branch that only some lanes of a warp take."""
    if not _is_shuffle(finding):
        return None
    tests = [
        node
        for node in ast.walk(seen.tree)
        if isinstance(node, ast.If) and node.lineno < finding.line <= node.end_lineno
    ]
    lanes = _LANES.search(finding.message)
    here = int(lanes[2], 16).bit_count() if lanes else 0
    if not tests or here == WARP:
        return None
    test = max(tests, key=lambda node: node.lineno)
    story = f"The shuffle stands under `if {ast.unparse(test.test)}` of line {test.lineno}"
    if not lanes:
        return (
            f"{story}, and the lane that it reads from does not come there. This must not be, even "
            "for a sum that nobody needs: each lane must read from one that comes, too."
        )
    return (
        f"{story}, and {here} of the {WARP} lanes of this warp come{'s' * (here == 1)} there. But "
        f"the mask names {int(lanes[1], 16).bit_count()}."
    )


def other_mask(seen: Run, finding: Finding) -> str | None:
    """All lanes come, and the mask does not name all."""
    lanes = _LANES.search(finding.message)
    if not lanes:
        return None
    named = int(lanes[1], 16).bit_count()
    return (
        f"The mask has a bit for each lane that takes part. All {WARP} lanes of this warp come "
        f"here, and in your mask {counted(named, 'bit')} {'is' if named == 1 else 'are'} set."
    )


def which_lane_stores(seen: Run, finding: Finding) -> str | None:
    """Two threads store into one word of shared memory."""
    if not in_shared(seen, finding, "race") or "has written" not in finding.message:
        return None
    if " writes " not in finding.message:
        return None
    mine, other = (thread.thread[0] for thread in finding.threads[:2])
    if mine // WARP == other // WARP:
        return (
            f"Lanes {mine % WARP} and {other % WARP} of one warp both store there, and they hold "
            "different sums. Which lane has the sum of the whole warp?"
        )
    return (
        f"Thread {mine} is in warp {mine // WARP}, and thread {other} in warp {other // WARP}. "
        "Each warp has a sum of its own, and both store it into the same word."
    )


def no_such_word(seen: Run, finding: Finding) -> str | None:
    """An index beyond the words of the warps."""
    if not in_shared(seen, finding, "out_of_bounds"):
        return None
    size, thread = int(_SIZE.search(finding.message)[1]), finding.threads[0].thread[0]
    loads = [one for one in seen.trace.access_counts if one.kind == "load"]
    if any((one.array, one.site.line) == (finding.array, finding.line) for one in loads):
        return (
            f"The array has {counted(size, 'word')}, one for each warp, and more than {size} "
            "threads come to this line. What do the others have to add?"
        )
    if finding.index[0] < WARPS:
        return (
            f"The block has {WARPS} warps, and the array {counted(size, 'word')}: warp "
            f"{finding.index[0]} finds no place."
        )
    return (
        f"Thread {thread} is in warp {thread // WARP}, and goes to word {finding.index[0]}. The "
        f"array has {counted(size, 'word')}, one for each warp."
    )


def no_such_sum(seen: Run, finding: Finding) -> str | None:
    """A word of the warps that nobody has stored."""
    if not in_shared(seen, finding, "uninitialised") or "local array" in finding.message:
        return None
    if finding.index[0] >= WARPS:
        return f"The block has {WARPS} warps, with the numbers 0 to {WARPS - 1}, and each one sum."
    return f"The sum of warp {finding.index[0]} is missing. Which threads does your test let store?"


def _is_shuffle(finding: Finding) -> bool:
    return finding.kind == "barrier" and "shfl" in finding.site.source


# ----------------------------------------------------------------------------------- wrong values


def never_read(seen: Run) -> str | None:
    """The sums of the warps are stored, and nobody reads them."""
    of_block = [one for one in seen.trace.access_counts if one.space == "shared"]
    if not of_block or any(one.kind != "store" for one in of_block):
        return None
    return f"The sums of the warps are stored into `{of_block[0].array}`, and no line reads them."


def replaced(seen: Run) -> str | None:
    """What a lane reads takes the place of what it had, and is not added to it."""
    for node in ast.walk(seen.tree):
        if isinstance(node, ast.Assign) and _is_call(node.value):
            handed = node.value.args[1]
            if ast.unparse(node.targets[0]) == ast.unparse(handed):
                return (
                    f"{at(read_source(seen.kernel.py_func).site(node))}: what the lane held is "
                    "gone. It must be added to what comes from the other lane."
                )
    return None


def handed_upwards(seen: Run) -> str | None:
    """shfl_up_sync: the lane with the highest number has the sum."""
    up = calls(seen, "shfl_up_sync")
    if not up:
        return None
    return (
        f"`shfl_up_sync` in line {up[0].lineno} hands a value to a lane with a higher number. "
        "Which lane has then added all the others, and which one stores?"
    )


def from_one_lane(seen: Run) -> str | None:
    """shfl_sync: all lanes read from one."""
    one = calls(seen, "shfl_sync")
    if not one:
        return None
    return (
        f"In `shfl_sync` of line {one[0].lineno} the last argument is the number of a lane, and "
        "all lanes read from this one. It is no distance."
    )


def other_lane(seen: Run) -> str | None:
    """The sum is stored by a lane that does not have it."""
    if not calls(seen, DOWN) or any(calls(seen, f"shfl_{one}sync") for one in ("", "up_", "xor_")):
        return None
    for access in seen.trace.access_counts:
        if access.kind != "store":
            continue
        lanes = [int(lane) for row in access.first for lane in np.flatnonzero(row >= 0)]
        if lanes and len(set(lanes)) == 1 and lanes[0]:
            return (
                f"Line {access.site.line}, `{access.site.source}`: lane {lanes[0]} of a warp "
                "stores. After shuffles down, which lane has added all the others?"
            )
    return None


def beyond_the_warp(seen: Run) -> str | None:
    """A distance of 32 or more: each lane gets back what it has."""
    first = int(np.flatnonzero(seen.wrong)[0])
    times = seen.out[first] / seen.right[first] if seen.right[first] else 0
    if times < 2 or times != round(times) or not calls(seen, DOWN):
        return None
    return (
        f"Every element counts {times:g} times in {element(seen.result, [first])}. A lane whose "
        "partner would lie beyond lane 31 gets its own value back: which distances has a warp?"
    )


def _is_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and "shfl" in ast.unparse(node.func) and len(node.args) == 3


REFUSED = (other_arguments,)
FINDINGS = (
    left_before_a_shuffle,
    lanes_missing,
    other_mask,
    which_lane_stores,
    no_such_word,
    no_such_sum,
)
WRONG = (never_read, replaced, handed_upwards, from_one_lane, other_lane, beyond_the_warp)
