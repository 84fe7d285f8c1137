"""Colours of the lesson's pictures: what fills an issue slot, and the kernels that are compared.

Blue, orange and green are the colours of the matrices a, b and c, as in all lessons. The
multiply-adds, which make c, are green, too.
"""

from virtual_gpu.pictures.svg import GREEN, GREY, PURPLE

MULTIPLY_ADDS, LOADS_AND_STORES, OTHERS = GREEN, PURPLE, "#c2456b"
LAST_ROUND, NOT_MEASURED = GREY, "#59616a"
STORES_OF_C = NOT_MEASURED  # in the map of the kernel, where nothing is measured
KERNELS = "#6fbac4", "#1b8a99", "#b8863b"  # a design in two sizes, and another design
