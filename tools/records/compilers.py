"""Record the machine code of every GPU step with each compiler, for three architectures.

    python -m tools.records.compilers

needs the compilers and no GPU. It also writes the tables of gpu_xray/COMPILERS.md, those of the
recorded times included; with --page that is all it does. Rows of a compiler that is not installed
stay as they are. With --check nothing is written, and a difference from the record is an error:
exit code 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from gpu_xray import xray
from gpu_xray.limits import with_budgets
from gpu_xray.versions import toolkit
from gpu_xray.widths import GLOBAL_LOADS, SHARED_LOADS, widest
from utils.compilers.choice import COMPILERS, Compiler, named
from utils.compilers.imports import KERNELS, ladder_of
from utils.ladder.budgets import budget_violations
from utils.ladder.step import Step
from utils.lessons.lesson_16 import compiler_times
from utils.lessons.lesson_16.two_compilers import (
    ARCHITECTURES,
    TABLE,
    CompiledStep,
    compiled_steps,
    page_table,
)
from utils.measuring import rows
from utils.paths import ROOT

PAGE = ROOT / "gpu_xray" / "COMPILERS.md"
# The tables of the page, by the comment before each of them.
TABLES = {
    "compilers: python -m tools.records.compilers": page_table,
    "times: python -m tools.records.compiler_times": compiler_times.times_table,
    "calls: python -m tools.records.compiler_times": compiler_times.calls_table,
}


def compiled(compiler: Compiler, step: Step, arch: str) -> CompiledStep:
    """Compile a step of a ladder that was made with this compiler, and return its row."""
    variant = step.variant()
    seen = xray(variant.kernel, step.signature, arch)
    assert seen.compiler == compiler.name, (seen.compiler, compiler.name)
    loop = seen.hot.body if seen.hot else seen.code
    counts: dict[str, int] = {}
    for instruction in loop:
        counts[instruction.name] = counts.get(instruction.name, 0) + 1
    broken = budget_violations(seen, step.budget.on(with_budgets()[arch]))
    return CompiledStep(
        arch=arch, compiler=compiler.name, version=compiler.version, toolkit=toolkit(),
        step=str(variant), registers=seen.registers, local_bytes=seen.local_bytes,
        spill_bytes=seen.spill_bytes, shared_bytes=seen.shared_bytes,
        instructions=len(seen.code), ffma_share=round(seen.ffma_share, 6),
        global_bits=widest(seen.code, GLOBAL_LOADS), shared_bits=widest(seen.code, SHARED_LOADS),
        over_budget=" ".join(broken) or None, loop=dict(sorted(counts.items())),
    )  # fmt: skip


def steps(compiler: Compiler) -> list[Step]:
    """Return all GPU steps, in the order of their ladders, with kernels of this compiler."""
    return [step for package in KERNELS for step in ladder_of(package, compiler).steps]


def compiled_with(
    compiler: Compiler, architectures: Sequence[str] = ARCHITECTURES
) -> Iterator[CompiledStep]:
    """Compile every step for each architecture that has its instructions, and yield the rows.

    The architectures of one step follow each other. After each row, a line on stderr names it as a
    sign of progress.
    """
    capabilities = with_budgets()
    for step in steps(compiler):
        for arch in architectures:
            if step.runs_on(capabilities[arch]):
                yield compiled(compiler, step, arch)
                print(f"{compiler.name} {step.name} {arch}", file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Write the rows of the installed compilers into the record and its page; return 0.

    With --check, nothing is written: each row that is not in the record is printed, and the result
    is 1 if there are any. With --page, only the tables of the page are written. arguments: the
    words of the command line; by default, those of this process.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compilers", nargs="+", metavar="NAME", help="by default all installed")
    parser.add_argument("--check", action="store_true", help="compare with the record alone")
    parser.add_argument("--page", action="store_true", help="write the tables of the page alone")
    options = parser.parse_args(arguments)
    if options.page:
        rows.write_text(PAGE, page(PAGE.read_text(encoding="utf-8")))
        return 0
    wanted = options.compilers or [name for name, each in COMPILERS.items() if each.is_installed]
    made = [row for name in wanted for row in compiled_with(named(name))]
    recorded = compiled_steps() if TABLE.exists() else ()
    if options.check:
        differing = [row for row in made if row not in recorded]
        print(*(f"Not as recorded: {row}" for row in differing), sep="\n")
        return int(bool(differing))
    kept = [row for row in recorded if row.compiler not in wanted]
    rows.write(TABLE, sorted([*kept, *made], key=_place), CompiledStep)
    rows.write_text(PAGE, page(PAGE.read_text(encoding="utf-8")))
    return 0


def page(text: str) -> str:
    """Return the text of gpu_xray/COMPILERS.md with new tables, which show the records.

    text: the page as it is now. Each table is between a comment and the comment `<!-- end -->`.
    """
    for comment, table in TABLES.items():
        begin, end = f"<!-- {comment} -->\n", "<!-- end -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}{table()}\n{end}{rest.split(end, 1)[1]}"
    return text


def _place(row: CompiledStep) -> tuple[str, str, str]:
    """Return the key by which rows are sorted: (step, architecture, compiler), as texts."""
    return row.step, row.arch, row.compiler


if __name__ == "__main__":
    sys.exit(main())
