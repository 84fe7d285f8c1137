"""The record of two compilers: all steps are in it, budgets hold or are named, and it is shown."""

import pytest

import gemm_kernels
import latency_kernels
import reduce_kernels
from gpu_xray.limits import with_budgets
from tools.records import compilers
from utils.compilers.choice import COMPILERS
from utils.lessons.lesson_16 import two_compilers
from utils.lessons.lesson_16.two_compilers import ARCHITECTURES, compiled_steps

STEPS = [
    step
    for package in (gemm_kernels, reduce_kernels, latency_kernels)
    for step in package.LADDER.steps
]
# Compiled in a moment, and with an intrinsic.
QUICK = ("naive", "reduce8")


def test_every_step_is_recorded_for_each_architecture_with_both_compilers():
    capabilities = with_budgets()
    wanted = {
        (str(step.variant()), arch, compiler)
        for step in STEPS
        for arch in ARCHITECTURES
        if step.runs_on(capabilities[arch])
        for compiler in COMPILERS
    }
    assert len(STEPS) == 42
    assert {(row.step, row.arch, row.compiler) for row in compiled_steps()} == wanted


def test_both_compilers_used_one_toolkit():
    assert len({row.toolkit for row in compiled_steps()}) == 1
    assert len({(row.compiler, row.version) for row in compiled_steps()}) == len(COMPILERS)


def test_the_course_s_own_compiler_keeps_every_budget():
    over = [row for row in compiled_steps() if row.over_budget and row.compiler == "numba-cuda"]
    assert over == []


def test_a_recorded_row_is_over_its_budget_where_its_own_figures_are():
    budgets = {str(step.variant()): step.budget for step in STEPS}
    for row in compiled_steps():
        budget = budgets[row.step].on(with_budgets()[row.arch])
        broken = row.local_bytes > budget.spill_bytes or row.ffma_share < budget.ffma_share
        broken |= budget.registers is not None and row.registers > budget.registers
        broken |= row.global_bits < budget.global_bits or row.shared_bits < budget.shared_bits
        if broken:
            assert row.over_budget, row


def test_the_fold_shows_the_figures_of_both_compilers():
    fold = two_compilers.side_by_side(gemm_kernels.LADDER.step("register_blocked"))
    first, second = two_compilers.pair("register_blocked")
    assert f"{first.compiler} {first.version}" in str(fold)
    (registers,) = [line for line in str(fold).splitlines() if line.startswith("registers")]
    assert registers.split()[-2:] == [str(first.registers), str(second.registers)]
    assert len(fold.inside.rows) <= 8


def test_the_page_has_the_table_of_the_record():
    text = compilers.PAGE.read_text(encoding="utf-8")
    assert compilers.page(text) == text


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK))
        for name in [step.name for step in STEPS]
    ],
)
@pytest.mark.parametrize("compiler", COMPILERS.values(), ids=COMPILERS)
def test_a_step_is_compiled_as_recorded(compiler, name):
    if not compiler.is_installed:
        pytest.skip(f"{compiler.name} is not installed here: make check-next-compiler")
    steps = {step.name: step for step in compilers.steps(compiler)}
    for arch in ARCHITECTURES if name not in QUICK else ("sm_90",):
        if steps[name].runs_on(with_budgets()[arch]):
            made = compilers.compiled(compiler, steps[name], arch)
            recorded = [
                row
                for row in compiled_steps()
                if (row.step, row.arch, row.compiler) == (made.step, arch, compiler.name)
            ]
            if recorded[0].toolkit != made.toolkit:
                pytest.skip(f"The record was made with CUDA {recorded[0].toolkit}.")
            assert recorded == [made]
