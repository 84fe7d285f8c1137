"""Writes the table of results into README.md from the records: ``python -m utils.readme``."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from utils import records

README = records.DATA.parent / "README.md"
DEVICE = "NVIDIA H200"
_BEGIN, _END = "<!-- results: python -m utils.readme -->", "<!-- end of results -->"


def results(device: str = DEVICE) -> str:
    """Markdown: every step at a large size, with its best constants, on one device."""
    gemm = _best(records.measured(device, "gemm").query("m == 4096 and n == 4096 and k == 4096"))
    sums = _best(records.measured(device, "reduce").query(f"elements == {2**30}"))
    lines = [
        f"Recorded on one {device}, {gemm['date'].max()}, strict float32, each step with its best "
        "constants, interleaved with the library:",
        "",
        "| step | problem | | of peak | of the library |",
        "| --- | --- | ---: | ---: | ---: |",
        *(_line(row, "4096³ product", f"{row.gflops:,.0f} GFLOP/s") for row in gemm.itertuples()),
        *(_line(row, "sum of 2^30", f"{row.gb_per_s:,.0f} GB/s") for row in sums.itertuples()),
    ]
    return "\n".join(lines)


def with_results(text: str) -> str:
    """The README's text with its table made anew."""
    section = f"{_BEGIN}\n{results()}\n{_END}"
    return re.sub(f"{re.escape(_BEGIN)}.*{re.escape(_END)}", lambda _: section, text, flags=re.S)


def _best(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.loc[frame.groupby("step", sort=False)["time_ms"].idxmin()]


def _line(row, problem: str, rate: str) -> str:
    name = f"`{row.step}` {row.params}".strip()
    library = f"{row.library_ratio:.1%} ({row.library})"
    return f"| {name} | {problem} | {rate} | {row.efficiency:.1%} | {library} |"


def main(path: Path = README) -> None:
    path.write_text(with_results(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
