"""A block that has shrunk to 32×8 threads, with a wrong first row and four to choose from."""

from dataclasses import replace

import numpy as np

from labs.checking.target import essential
from labs.families.granularity import Granularity
from labs.families.matrices import elementwise, matrix
from labs.targets import counts
from labs.targets.sharing import elements_per_thread

_COVERED = Granularity(tile=32, rows=4)
_SCALED = elementwise(
    name="shrunk_block",
    lesson="11",
    kind="repair",
    title="A block that has shrunk",
    text=(
        "The kernel stores `factor * x[r, col]` in `out[r, col]`. Its blocks had 32×32 threads and "
        "now have 32×8, so each thread takes four rows, 8 apart. The line that computes the first "
        "row is still the old one. Replace it by the right one of the four lines below it.",
        "The launch is given: blocks of 32×8 threads, and one block for 32×32 elements.",
    ),
    parameters=("x", "factor", "out"),
    shapes=((96, 64), (70, 50), (59, 33), (73, 96), (50, 5), (1, 1)),
    inputs=lambda shape, seed: (matrix(shape, seed), np.float32(shape[1] % 7 + 0.5)),
    reference=lambda x, factor: x.astype(np.float64) * float(factor),
    targets=(
        counts.no_negative_index(), counts.one_store_per_element(), counts.no_float64(),
        essential(counts.sectors_per_request(4)), essential(elements_per_thread(4)),
    ),
    hints=(
        "Block 0 has rows 0 to 31. With which row must block 1 begin?",
        "Thread `ty` takes rows `row`, `row + 8`, `row + 16` and `row + 24`. The eight values of "
        "`ty` must fill the gaps between them.",
    ),
    after="A block moves on by the rows that it covers, not by the rows of threads that it has.",
)  # fmt: skip
EXERCISE = replace(_SCALED, launch=lambda shape: _COVERED.launch((*shape, 1)))
