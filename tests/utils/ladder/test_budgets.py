"""Every step's machine code keeps its budget, so that a compiler that makes worse code is noticed.

All figures are of the code alone: no GPU takes part.
"""

import dataclasses

import pytest
from numba import cuda
from packaging.version import Version

import gemm_kernels
import latency_kernels
import reduce_kernels
import tensor_kernels
from gpu_xray import ARCHITECTURES, xray
from gpu_xray.opcodes import UNKNOWN, meaning_of
from tests.steps_edited import edited_step
from tools.records.resources import VECTORS, reverse_async
from utils.ladder.budgets import budget_violations
from utils.ladder.step import Budget
from utils.machine.versions import versions

pytestmark = pytest.mark.usefixtures("compiler")

STEPS = [
    step
    for package in (gemm_kernels, reduce_kernels, latency_kernels, tensor_kernels)
    for step in package.LADDER.steps
]
COMPILED = [
    pytest.param(step, arch, id=f"{step.name}-{arch}", marks=[pytest.mark.slow] * (arch != "sm_90"))
    for step in STEPS
    for arch, capability in ARCHITECTURES.items()
    if capability >= step.capability
]
OTHER_VARIANTS = [
    pytest.param(variant, id=str(variant), marks=pytest.mark.slow)
    for step in STEPS
    for variant in step.variants()[1:]
]
NAIVE = gemm_kernels.LADDER.step("naive")
TILED = gemm_kernels.LADDER.step("tiled")
FMA_LOOP = latency_kernels.LADDER.step("fma_loop")


# On Blackwell the assembler of CUDA 13.0 gives these more registers, and spills some: the first
# toolkit that keeps their budgets there.
KEPT_SINCE = {
    (name, "sm_100"): "13.2"
    for name in ("maxwell64", "maxwell256", "register_banks", "split_k", "copy")
}


def kept_here(step, arch, toolkit=None):
    """Return True if this toolkit, or the given one, is new enough to keep the step's budget."""
    toolkit = toolkit or versions().toolkit
    since = KEPT_SINCE.get((step.name, arch), "0")
    return Version(toolkit) >= Version(since)


def seen_of(step, arch="sm_90", **constants):
    return xray(step.build(**step.constants(**constants)), step.signature, arch)


@pytest.mark.parametrize("step, arch", COMPILED)
def test_machine_code_keeps_the_budget_of_its_step(step, arch):
    if kept_here(step, arch):
        budget = step.budget.on(ARCHITECTURES[arch])
        assert budget_violations(seen_of(step, arch), budget) == []


def test_a_budget_may_differ_on_one_capability_and_stays_as_it_is_on_the_others():
    budget = Budget(registers=32, global_bits=32, but={(12, 0): {"registers": 40}})
    assert budget.on((9, 0)) == Budget(registers=32, global_bits=32)
    assert budget.on((12, 0)) == Budget(registers=40, global_bits=32)


def test_an_older_toolkit_is_excused_only_where_it_is_known_to_be_worse():
    maxwell64, naive = gemm_kernels.LADDER.step("maxwell64"), gemm_kernels.LADDER.step("naive")
    assert not kept_here(maxwell64, "sm_100", "13.0")
    assert kept_here(maxwell64, "sm_100", "13.2")
    assert kept_here(maxwell64, "sm_90", "13.0")
    assert kept_here(naive, "sm_100", "13.0")


@pytest.mark.parametrize("step, arch", COMPILED)
def test_every_opcode_of_a_step_has_plain_words(step, arch):
    names = seen_of(step, arch).instructions
    assert {name for name in names if meaning_of(name) == UNKNOWN} == set()


def test_an_opcode_without_plain_words_is_said_to_have_none():
    assert meaning_of("FFMB") == UNKNOWN != meaning_of("FFMA")


@pytest.mark.parametrize("variant", OTHER_VARIANTS)
def test_no_choice_of_constants_brings_float64_or_spills(variant):
    budget = variant.step.budget
    always = Budget(float64=budget.float64, spill_bytes=budget.spill_bytes)
    assert budget_violations(xray(variant.kernel, variant.step.signature), always) == []


def test_a_double_accumulator_breaks_the_budget():
    (sentence,) = budget_violations(
        seen_of(edited_step(NAIVE, "total = float32(0)", "total = 0.0")),
        dataclasses.replace(NAIVE.budget, registers=None, ffma_share=0),
    )
    assert "compute in float64" in sentence


def test_spilled_registers_break_the_budget():
    squeezed = cuda.jit(max_registers=40)(FMA_LOOP.build().py_func)
    broken = budget_violations(xray(squeezed, FMA_LOOP.signature), FMA_LOOP.budget)
    assert "local memory, 0 allowed" in broken[0]


def test_more_registers_than_allowed_break_the_budget():
    assert budget_violations(seen_of(FMA_LOOP), Budget(registers=86)) == []
    (sentence,) = budget_violations(seen_of(FMA_LOOP), Budget(registers=85))
    assert "86 registers, 85 allowed" in sentence


def test_narrow_loads_break_the_budget_of_a_step_that_promises_wide_ones():
    promise = Budget(global_bits=128, shared_bits=128)
    assert budget_violations(xray(reverse_async, VECTORS), promise) == []
    assert budget_violations(seen_of(TILED), promise) == [
        "tiled for sm_90: the widest load from global memory has 32 bits, not 128."
    ]
    # A pitch of 9 words puts the rows of a off the 16-byte boundaries that LDS.128 needs.
    pitch = "sa = cuda.shared.array((9, 9)"
    crooked = edited_step(TILED, "sa = cuda.shared.array((TILE, TILE)", pitch)
    broken = budget_violations(seen_of(crooked, TILE=8), TILED.budget)
    assert any("from shared memory has 32 bits, not 128" in sentence for sentence in broken)


@pytest.mark.slow
@pytest.mark.parametrize(
    "step, old, new",
    [
        # range() with a bound that only the launch knows
        (NAIVE, "while i < k:", "for i in range(k):"),
        # a trip count that only the launch knows, so that the loop stays rolled
        (TILED, "for i in range(TILE):", "for i in range(min(TILE, k)):"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_loop_full_of_index_arithmetic_breaks_the_budget(step, old, new):
    broken = budget_violations(seen_of(edited_step(step, old, new)), step.budget)
    assert any("of the hot loop are FFMAs" in sentence for sentence in broken)
