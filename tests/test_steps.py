"""What holds for every step of every ladder, and what a step refuses."""

import inspect
import re
from pathlib import Path

import pytest
from numba import cuda, float32, void
from steps_edited import edited_step

import gemm_kernels
import gemm_kernels.cpu
import latency_kernels
import reduce_kernels
from gemm_kernels.naive import STEP as NAIVE
from gemm_kernels.tiled import STEP as TILED
from utils.errors import CourseError
from utils.shapes import GemmShape
from utils.steps import Launch

LADDERS = [
    package.LADDER for package in (gemm_kernels, gemm_kernels.cpu, reduce_kernels, latency_kernels)
]
STEPS = [
    pytest.param(step, id=f"{ladder.name}-{step.name}")
    for ladder in LADDERS
    for step in ladder.steps
]
KERNELS = [
    pytest.param(step, constants, id=f"{ladder.name}-{step.variant(**constants)}")
    for ladder in LADDERS
    if ladder.on_gpu
    for step in ladder.steps
    for constants in step.variants()
]
ARCHITECTURES = [(7, 5), (8, 0), (9, 0)]


@pytest.fixture(scope="module")
def compile_ptx():
    """(kernel, signature, compute capability) -> PTX."""
    try:
        cuda.compile_ptx(lambda x: None, void(float32[::1]), cc=ARCHITECTURES[0])
    except Exception as error:
        if "nvvm" not in str(error).lower():
            raise
        pytest.skip(f"The CUDA compiler is not installed, so there is no PTX to read ({error}).")
    return lambda kernel, signature, cc: cuda.compile_ptx(kernel.py_func, signature, cc=cc)[0]


def instructions_per_fma(ptx: str) -> float:
    """In the straight piece of code that holds most multiply-adds."""
    busiest = max(ptx.split("$L__"), key=lambda block: block.count("fma.rn.f32"))
    instructions = re.findall(r"^\s+(?:@!?%p\d+ )?[a-z][\w.]+[\s;]", busiest, flags=re.MULTILINE)
    return len(instructions) / busiest.count("fma.rn.f32")


@pytest.mark.parametrize("cc", ARCHITECTURES, ids=lambda cc: f"sm_{cc[0]}{cc[1]}")
@pytest.mark.parametrize("step, constants", KERNELS)
def test_machine_code_has_float64_only_where_the_budget_allows_it(step, constants, cc, compile_ptx):
    ptx = compile_ptx(step.build(**constants), step.signature, cc)
    assert (".f64" in ptx) <= step.budget.float64


def test_an_accumulator_of_0_0_would_be_found_as_float64(compile_ptx):
    wrong = edited_step(NAIVE, "total = float32(0)", "total = 0.0")
    assert ".f64" in compile_ptx(wrong.build(), NAIVE.signature, (9, 0))


def test_the_k_loop_of_naive_is_not_drowned_in_index_arithmetic(compile_ptx):
    ours = compile_ptx(NAIVE.build(), NAIVE.signature, (9, 0))
    with_range = edited_step(NAIVE, "while i < k:", "for i in range(k):")
    theirs = compile_ptx(with_range.build(), NAIVE.signature, (9, 0))
    assert instructions_per_fma(ours) < 8
    assert instructions_per_fma(theirs) > 2 * instructions_per_fma(ours)


def computes_in_float64(step) -> bool:
    function = step.build(**step.constants())
    function.compile(step.signature.args)
    (llvm,) = function.inspect_llvm().values()
    return bool(re.search(r"f(add|mul) [^\n]*\bdouble\b", llvm))


@pytest.mark.parametrize("step", gemm_kernels.cpu.LADDER.steps, ids=lambda step: step.name)
def test_no_cpu_step_computes_in_float64(step):
    assert not computes_in_float64(step)


def test_a_cpu_accumulator_of_0_0_would_be_found_as_float64():
    naive = gemm_kernels.cpu.LADDER.step("naive")
    assert computes_in_float64(edited_step(naive, "total = float32(0)", "total = 0.0"))


def test_the_loop_of_the_arithmetic_ceiling_holds_two_outer_products_and_no_memory(compile_ptx):
    step = latency_kernels.LADDER.step("fma_loop")
    ptx = compile_ptx(step.build(), step.signature, (9, 0))
    assert ptx.count("fma.rn.f32") == 2 * 64
    assert "local" not in ptx


@pytest.mark.parametrize("step", STEPS)
def test_step_file_and_function_have_one_name(step):
    function = step.build(**step.constants()).py_func
    assert step.name == function.__name__ == Path(inspect.getfile(function)).stem


@pytest.mark.parametrize("step", STEPS)
def test_a_kernel_file_can_be_read_on_one_screen(step):
    source = inspect.getsourcefile(step.build(**step.constants()).py_func)
    assert len(Path(source).read_text(encoding="utf-8").splitlines()) <= 75


@pytest.mark.parametrize("step", STEPS)
def test_building_a_variant_twice_gives_the_same_kernel(step):
    assert step.build(**step.constants()) is step.build(**step.constants())


@pytest.mark.parametrize("ladder", LADDERS, ids=lambda ladder: ladder.name)
def test_each_step_follows_one_that_stands_before_it(ladder):
    names = [step.name for step in ladder.steps]
    assert len(set(names)) == len(names)
    for index, step in enumerate(ladder.steps):
        assert step.previous is None or step.previous in names[:index]


@pytest.mark.parametrize("ladder", LADDERS, ids=lambda ladder: ladder.name)
def test_the_sizes_of_a_ladder_can_be_read(ladder):
    assert all(ladder.parse(size) for size in (*ladder.sizes, *ladder.quick, ladder.small))


def test_constants_default_to_the_first_choice():
    assert TILED.constants() == {"TILE": 32}
    assert TILED.constants(TILE=8) == {"TILE": 8}


def test_variants_are_all_combinations_with_the_default_first():
    assert TILED.variants() == [{"TILE": 32}, {"TILE": 16}, {"TILE": 8}]
    assert NAIVE.variants() == [{}]


def test_an_unknown_constant_is_refused_with_the_known_ones():
    with pytest.raises(CourseError, match="no constant BLOCK: the constants of this step are TILE"):
        TILED.constants(BLOCK=16)


def test_a_value_that_is_not_offered_is_refused_with_the_offered_ones():
    with pytest.raises(
        CourseError, match="TILE=48 is not offered by tiled: choose one of 32, 16, 8"
    ):
        TILED.constants(TILE=48)


def test_a_misspelt_step_is_refused_with_the_nearest_name():
    with pytest.raises(CourseError, match="no step 'tilde': did you mean tiled"):
        gemm_kernels.LADDER.step("tilde")


def test_a_variant_is_named_as_records_name_it():
    variant = TILED.variant(TILE=16)
    assert (str(variant), variant.params) == ("tiled TILE=16", "TILE=16")


def test_a_grid_covers_the_edge_and_not_a_block_more():
    assert NAIVE.launch(GemmShape(m=9, n=33, k=1)).grid == (2, 2)
    assert NAIVE.launch(GemmShape(m=8, n=32, k=1)).grid == (1, 1)
    assert TILED.launch(GemmShape(m=1, n=17, k=1), TILE=16).grid == (2, 1)


def test_a_block_that_no_device_takes_is_refused():
    with pytest.raises(
        CourseError, match="64×64 has 4096 threads, and no device takes more than 1024"
    ):
        Launch(grid=(1,), block=(64, 64))


def test_a_grid_that_no_device_takes_is_refused():
    with pytest.raises(CourseError, match=r"has 125000 blocks along y.* more than 65535"):
        NAIVE.launch(GemmShape(m=1_000_000, n=1, k=1))
