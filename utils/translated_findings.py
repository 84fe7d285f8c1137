"""The virtual GPU's messages in the reader's language.

The virtual GPU is a package of its own, whose findings and errors are in English, and several
probes search them for phrases. So a message is translated where it is shown: `SAID` has what the
virtual GPU says of a reader's kernel, with placeholders, and the catalogues have its translations.
"""

from __future__ import annotations

import re
from functools import cache

from utils.translation import ENGLISH, language, translate

_HAS_INSTEAD = (
    "scalars, and arrays whose size is a constant: cuda.local.array(size, type), one for each "
    "thread, and cuda.shared.array(size, type), one for each block"
)
_FOR_EVER = "in this loop for ever, because"
_UNCHANGED = f"{_FOR_EVER} an iteration changes nothing that its condition needs:"
_DOES_IT_END = (
    "does the loop end for every thread? If it does, set VIRTUAL_GPU_SECONDS or patience= of "
    "trace() to the seconds that the launch may take"
)
_WHOLE = "it must be one to three whole numbers, each at least 1"
_NO_BARRIER = (" with no syncthreads() between", " with no syncwarp() or syncthreads() between")
_RACES = tuple(
    f"{{thread}} {verb} {{element}}, which {{other}} has {done} at line {{line}}{why}"
    for verb, done in (("reads", "written"), ("writes", "written"), ("writes", "read"))
    for why in (*_NO_BARRIER, "; nothing orders these two blocks")
)
_RACES_OF_COPIES = tuple(
    f"{{thread}} {verb} {{element}}, which {{other}} has copied at line {{line}} and waited for at "
    f"line {{wait}}{why}"
    for verb in ("reads", "writes")
    for why in _NO_BARRIER
)
# Messages and parts of messages, without a full stop at the end. The first one that fits is taken,
# and what a placeholder stands for may be such a part, too.
SAID = (
    "thread ({thread}) of block ({block})",
    "the loop",
    # where
    "{function}, line {line} `{code}`: {what}",
    "line {line} `{code}`: {what}",
    "Line {line}, `{code}`: {what}",
    # findings
    "{thread} computes the index {index} of {array}; Numba counts it from the end",
    "{thread} uses {element}; dimension {axis} of {array} has {count} elements (shape {shape})",
    "{thread} uses {element}; dimension {axis} of {array} has 1 element (shape {shape})",
    "{thread} reads the variable {name}, which it has not set",
    "{thread} reads {element} of its local array, which it has not written",
    "{thread} reads {element}, which no thread has written",
    *_RACES,
    *_RACES_OF_COPIES,
    "another thread",
    "{count} of the {all} live threads of a block reach this barrier; {thread} does not",
    "reached by {thread}",
    # loops without an end
    "1 thread waits for ever, because an iteration of this loop changes nothing and no other "
    "thread is left to end it; does the loop end for every thread?",
    "{count} threads wait for ever, because an iteration of this loop changes nothing and no other "
    "thread is left to end it; does the loop end for every thread?",
    f"1 thread stays {_FOR_EVER} no thread comes to a break or return",
    f"{{count}} threads stay {_FOR_EVER} no thread comes to a break or return",
    f"1 thread stays {_UNCHANGED} {{one}} and {{other}}",
    f"1 thread stays {_UNCHANGED} {{name}}",
    f"{{count}} threads stay {_UNCHANGED} {{one}} and {{other}}",
    f"{{count}} threads stay {_UNCHANGED} {{name}}",
    "for {seconds} s no thread has come nearer to the end of this loop; " + _DOES_IT_END,
    "for {seconds} s no thread has left this loop and no memory has changed; " + _DOES_IT_END,
    "{number} seconds",
    # what no kernel can have
    f"a kernel can make no lists and no NumPy arrays. It has {_HAS_INSTEAD}",
    f"a tuple cannot be changed (Numba refuses it, too). A kernel has {_HAS_INSTEAD}",
    "a kernel has no `try`, because nothing catches an error on a GPU. Test with `if` before the "
    "line that may go wrong",
    "the name {name} is not defined; write {cure}",
    "the name {name} is not defined",
    "{why} (Numba's compiler refuses this.)",
    "{function}: its expressions or branches are nested, or its calls of itself go, deeper than "
    "the virtual GPU can follow; give parts of it names of their own, or write a loop",
    "The source of {name} cannot be read; define it in a file or a notebook cell, not in exec() or "
    "at a plain prompt",
    "{what} is not known to the virtual GPU",
    "a call of {code}()",
    "{function}() of {one} and {other}",
    "a number ({type})",
    "a tuple of {count}",
    "a {rank}D array",
    "a Dim3 (x, y, z)",
    "{count} indices into an array of rank {rank} (Numba refuses it, too)",
    "{code} without a number of dimensions (for one: {one})",
    "{code} (Numba takes the constant 1, 2 or 3)",
    "{code}, which numba.cuda does not have (is {meant} meant?),",
    "{code}, which numba.cuda does not have,",
    "an index of type {type} (Numba refuses it, too: divide with //, or convert it with int())",
    "{code}, where {name} is {what},",
    "{code}, a call of a value (Numba refuses it, too: write {cure} without ()),",
    "an import in a kernel (Numba refuses it, too: import at the top of the file)",
    "with in a kernel (Numba refuses it, too)",
    "unpacking into {count} names from {what}",
    "the expression {code}",
    "the index in {code}",
    "the statement {name}",
    # launches
    "{name}[{numbers}] is no launch; write {name}[grid, block], or "
    "{name}[grid, block, stream, shared_bytes]",
    "{name} takes {count} arguments ({parameters}); 1 was given",
    "{name} takes {count} arguments ({parameters}); {given} were given",
    "{name} was launched with {arguments} by name; pass the arguments by position",
    f"The grid is {{given}}; {_WHOLE} (such as math.ceil(n / threads))",
    f"The grid is {{given}}; {_WHOLE}",
    f"The block is {{given}}; {_WHOLE} (such as math.ceil(n / threads))",
    f"The block is {{given}}; {_WHOLE}",
    "The block {block} has {threads} threads; a device takes at most {most}",
    "The argument {name} is or holds None, which Numba's launch does not take; pass an array or a "
    "number, or leave out a last argument whose default is None",
    "The argument {name} is a list; a kernel takes no list; pass np.array() of it, or a tuple",
    "The argument {name} is a {type}; a kernel takes arrays and numbers, and tuples of them",
)


def translate_message(message: str) -> str:
    """Return a message of the virtual GPU in the reader's language; an unknown one stays English.

    message: a sentence or a part of one, with or without a full stop.
    """
    if language() == ENGLISH:
        return message
    text = message.removesuffix(".")
    for said, pattern in _patterns():
        if found := pattern.fullmatch(text):
            values = {name: translate_message(value) for name, value in found.groupdict().items()}
            return translate(said, **values) + message[len(text) :]
    return message


@cache
def _patterns() -> tuple[tuple[str, re.Pattern], ...]:
    """Return the pairs (message with placeholders, pattern of the messages that it stands for)."""
    return tuple((said, re.compile(_pattern(said), re.DOTALL)) for said in SAID)


def _pattern(said: str) -> str:
    """Return the regular expression, as text, of a message; each placeholder is a named group.

    If a placeholder occurs again, it must match the same text as the first time.
    """
    seen: set[str] = set()
    parts = re.split(r"\{(\w+)\}", said)
    for place in range(1, len(parts), 2):
        name = parts[place]
        parts[place] = f"(?P={name})" if name in seen else f"(?P<{name}>.+?)"
        seen.add(name)
    return "".join(part if place % 2 else re.escape(part) for place, part in enumerate(parts))
