"""Record what Numba's compiler says of each idiom: ``python -m virtual_gpu.tests.idioms``."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from virtual_gpu import install

from . import kernels_of, read_idioms, recorded, write_idioms


def main() -> None:
    """Compile all idioms to PTX, write ``idioms.csv`` anew and print the number per answer."""
    install()  # functions that a kernel calls are compiled for the current device
    with tempfile.TemporaryDirectory() as folder:
        functions = kernels_of(read_idioms(), Path(folder), device=False)
        idioms = [recorded(idiom, function) for idiom, function in functions.items()]
    write_idioms(idioms)
    for answer, count in Counter(idiom.numba for idiom in idioms).items():
        print(f"{count:5} {answer}")


if __name__ == "__main__":
    main()
