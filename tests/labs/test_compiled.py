"""Tests of targets in machine code, which are counted with a compiler and unknown without one."""

from types import SimpleNamespace

import pytest
from numba import njit

from gpu_xray.compile import NO_COMPILER
from labs import EXERCISES, check
from labs.checking.run import run_kernel
from labs.exercises.micro_kernel.exercise import no_spills
from labs.targets.machine_code import machine_code
from tests.labs.versions import changed, from_text, right, wrong
from utils.errors import CourseError
from utils.intrinsics.simd import broadcast, fmadd_row, load_row, store_row, zero_row


@pytest.mark.parametrize(
    "name, submission, unknown",
    [
        ("sums_in_registers", EXERCISES["sums_in_registers"].solution, 2),
        ("unroll", wrong("unroll", "ranges"), 1),
    ],
)
def test_without_a_compiler_what_it_makes_is_named_as_not_known(
    name, submission, unknown, monkeypatch
):
    def refuse(*arguments):
        raise CourseError(NO_COMPILER)

    monkeypatch.setattr("gpu_xray.xray", refuse)
    verdict = check(name, submission)
    assert verdict.passed
    assert [note.partition(":")[0] for note in verdict.notes] == (
        ["Not known on this machine"] * unknown
    )


def test_without_a_compiler_loads_are_judged_by_the_source_alone(monkeypatch):
    monkeypatch.setattr("labs.families.loads_in_flight._compiled", lambda run: None)
    verdict = check("four_loads", EXERCISES["four_loads"].solution)
    assert verdict.passed
    assert "Not known on this machine: one wait in the machine code, too." in verdict.notes
    assert not check("four_loads", EXERCISES["four_loads"].starter).passed


def test_where_the_code_of_the_cpu_cannot_be_known_a_note_says_so(monkeypatch):
    monkeypatch.setattr("labs.exercises.micro_kernel.exercise.hot_loop_elsewhere", lambda *_: None)
    verdict = check("micro_kernel", EXERCISES["micro_kernel"].solution)
    assert verdict.passed
    assert verdict.notes == ("Not known on this machine: no spills.",)


@pytest.mark.slow
def test_who_passes_reads_where_the_waits_are_counted():
    # The last block of this one waits up to three times in a thread.
    verdict = check("four_loads", right("four_loads", "a fast way for whole blocks"))
    assert "counted in two blocks" in str(verdict)
    assert "a kernel may wait more often" in str(verdict)


@pytest.mark.slow
@pytest.mark.parametrize(
    "what", ["a test for each term", "ranges", "the remainder first", "an unsigned i"]
)
def test_too_many_instructions_are_told_with_the_target(what, compiler):
    (cause,) = check("unroll", wrong("unroll", what)).causes
    for words in ("The result is right", "in the machine code", "the target is 6.5"):
        assert words in cause


def test_an_index_from_the_counter_of_an_open_loop_is_named(compiler):
    text = EXERCISES["sums_in_registers"].solution_text
    before, after = text.split("        for j in range(8):\n            if", 1)
    rotated = "        for step in range(8):\n            j = (step + i) % 8\n            if"
    kernel = from_text("sums_in_registers", before + rotated + after)
    (cause,) = check("sums_in_registers", kernel).causes
    assert "computes the index `j` from `i`, which is known only when the kernel runs" in cause
    assert "BRA" not in cause


@pytest.mark.slow
def test_a_sum_in_a_register_is_not_spilled(compiler):
    exercise = EXERCISES["unroll"]
    run = run_kernel(exercise, exercise.solution, exercise.shapes[0], 20)
    assert machine_code(run).spill_bytes == 0


def sums_of(vectors):
    @njit
    def sums(a, b, c):
        row, totals = load_row(b, 0, 8, vectors), zero_row(8, vectors)
        for p in range(a.size):
            totals = fmadd_row(broadcast(a, p, 8), row, totals)
        store_row(c, 0, totals)

    return SimpleNamespace(kernel=sums)


def test_more_vectors_than_registers_are_counted_as_spills():
    target = no_spills()
    assert target.measure(sums_of(5)) == 0
    spilled = target.measure(sums_of(20))
    assert spilled > 0
    assert "16 registers" in target.cause(sums_of(20), spilled)


@pytest.mark.parametrize("name", ["tree", "add_while_loading", "without_remainder"])
def test_a_solution_in_32_bits_has_no_remark(name, compiler):
    assert not check(name, EXERCISES[name].solution).notes


def test_a_loop_of_64_bits_is_remarked_and_no_flaw(compiler):
    verdict = check("tree", right("tree", "numbers of 64 bits"))
    assert verdict.passed
    (note,) = verdict.notes
    assert "compares or shifts 64-bit numbers" in note
    assert (
        "A result of 64 bits is in line 15, `stride = cuda.blockDim.x // 2`, and in line 20, "
        "`stride //= 2`." in note
    )
    assert check("tree", right("tree", "halves made 32 bits")).notes == ()


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("a for loop over the steps", "has one step per iteration, and"),
        ("rows without a gap", "a store into `sa` takes 2 wavefronts"),
        ("columns of c in two halves", "Your reads take 12 wavefronts per step of k"),
    ],
)
def test_what_is_no_flaw_of_wide_tiles_is_remarked(what, words, compiler):
    verdict = check("wide_tiles", right("wide_tiles", what))
    assert verdict.passed
    (note,) = verdict.notes
    assert words in note
    assert not check("wide_tiles", EXERCISES["wide_tiles"].solution).notes


def test_a_condition_of_64_bits_is_remarked_and_no_flaw(compiler):
    name = "without_remainder"
    for what in ("shifted", "an exclusive or"):
        verdict = check(name, right(name, what))
        assert verdict.passed
        note = " ".join(verdict.notes)
        assert "A result of 64 bits is in line 17, `if tid " in note
        assert "a plain `1` has such a result" in note


TEST = "        if tid & uint32(2 * stride - 1) == 0:\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        [
            ("    while", "    low = uint32(0)\n    while"),
            (
                TEST,
                "        low = uint32(low | uint32(tid & stride))\n"
                "        if low == uint32(0):\n",
            ),
        ],
        [
            ("    while", "    k = uint32(1)\n    while"),
            (TEST, "        if uint32(uint32(tid >> k) << k) == tid:\n"),
            ("(2 * stride)\n", "(2 * stride)\n        k = uint32(k + uint32(1))\n"),
        ],
    ],
)
def test_a_condition_whose_results_are_all_narrow_has_no_remark(changes, compiler):
    verdict = check("without_remainder", changed("without_remainder", *changes))
    assert verdict.passed
    assert "machine code" not in " ".join(verdict.notes)


def test_a_remainder_that_the_compiler_removes_is_refused_for_the_source_line(compiler):
    name = "without_remainder"
    text = EXERCISES[name].starter_text.replace("stride < cuda.blockDim.x", "stride < BLOCK")
    (cause,) = check(name, from_text(name, text)).causes
    assert "the compiler unrolls it, knows every divisor and need not divide" in cause
