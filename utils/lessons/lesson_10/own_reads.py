"""The reader's experiment beside the reader's `two_tiles`: what the loop reads in machine code."""

from __future__ import annotations

from collections import Counter

from utils.ladder.kept_functions import kept_text
from utils.ladder.step import Variant
from utils.lessons.cards import Table, table
from utils.lessons.counting import as_variant
from utils.lessons.inner_loops import hot_loop
from utils.lessons.own_kernels import mine
from utils.translation import translate


def beside_two_tiles(kernel: Variant) -> Table:
    """Return a table of the reads in the hot loops of `two_tiles` and of the reader's experiment.

    The columns are the multiply-adds, the LDS and the LDS.128 in one iteration, and the
    instructions per multiply-add. An LDS.128 reads four words, and all narrower reads count as LDS.
    The first row is that of `two_tiles`; it is left out if the reader has no right kernel for it.
    Raises CourseError without a compiler.
    """
    is_right = bool(kept_text("two_tiles"))
    kernels = {"two_tiles": mine("two_tiles")} if is_right else {}
    kernels["reads_again"] = kernel
    rows = [(translate("your {step}", step=name), *reads(one)) for name, one in kernels.items()]
    head = ("", "multiply-adds", "LDS", "LDS.128", "instructions per multiply-add")
    return table("One iteration of the loop over k, in machine code", head, rows)


def reads(kernel: Variant) -> tuple[str, ...]:
    """Return four cells on one iteration of a kernel's hot loop, as texts.

    They are the multiply-adds, the reads of shared memory narrower than four words, the reads of
    four words, and the instructions per multiply-add, in which those around the loop count, too.
    """
    loop = hot_loop(as_variant(kernel))
    found = Counter(code for code in loop.opcodes if code.startswith("LDS"))
    wide = found.pop("LDS.128", 0)
    per_multiply_add = f"{loop.per_multiply_add_with_tiles:.2f}"
    return str(loop.multiply_adds), str(sum(found.values())), str(wide), per_multiply_add
