"""The colour of each role in the course's pictures, so that a role looks the same everywhere.

A picture imports the roles that it draws. A test compares the labels of all legends with this
table.
"""

from __future__ import annotations

from virtual_gpu.pictures.svg import BLUE, GREEN, ORANGE, PALE, PURPLE

# The matrices of c = a·b, and their tiles and elements.
MATRIX_A, MATRIX_B, MATRIX_C = BLUE, ORANGE, GREEN
# What a kernel does with global memory.
READ, WRITE = BLUE, ORANGE
# What is read in the step that a picture shows, and what was read in steps before it.
NOW, BEFORE = ORANGE, PALE
# What a host and its device do one after the other.
LAUNCH, KERNEL, COPY, COPY_BACK = PURPLE, ORANGE, BLUE, GREEN

# Role -> a regular expression that finds it in the words of a legend.
WORDS = {
    "MATRIX_A": r"(?:(?:^|\b(?:of|matrix) )a)$",
    "MATRIX_B": r"(?:(?:^|\b(?:of|matrix) )b)$",
    "MATRIX_C": r"(?:(?:^|\b(?:of|matrix) )c)$",
    "READ": r"^(?:loads?|read)(?: from global memory| by a lane)?$",
    "WRITE": r"^stores?(?: into shared(?: memory)?)?$",
    "NOW": r"^(?:what it )?reads?(?: read)? in (?:this|one) step$",
    "BEFORE": r"^(?:read|loaded) before$",
    "LAUNCH": r"^launch$",
    "KERNEL": r"^kernel$",
    "COPY": r"^copy(?! .* back$)",
    "COPY_BACK": r"^copy .* back$",
}
