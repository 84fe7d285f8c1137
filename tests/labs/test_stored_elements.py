"""Tests of the probe that says which thread stores which elements."""

from dataclasses import replace

import pytest

from labs import EXERCISES, check
from labs.checking.run import run_kernel
from labs.targets.stored_elements import overlap_or_gap, stored_twice
from tests.labs.versions import changed

SECTORS = EXERCISES["sectors"]
INDEX = "thread + j * threads"


def run_of(index: str):
    return run_kernel(SECTORS, changed("sectors", (INDEX, index)), SECTORS.shapes[0], 20)


@pytest.mark.parametrize(
    "index, words",
    [
        ("thread + 32 * j", "Threads 0 and 32 of block 0 both store element 32."),
        ("thread + 256 * j", "Thread 0 of block 0 and thread 0 of block 1 both store element 256."),
        ("8 * thread + j", "thread 0 of block 0 stores elements 0, 1, 2 and 3, and thread 1"),
        ("thread + 2 * threads * j", "No thread stores element 1024"),
        ("thread + threads * (j + 1)", "The first element that a thread stores is 1024"),
    ],
)
def test_an_overlap_or_a_gap_is_told_with_the_threads_elements(index, words):
    assert words in overlap_or_gap(run_of(index))


def test_missing_elements_that_a_test_stops_are_left_to_others():
    stops = changed("sectors", ("if i < out.size", "if i < out.size // 2"))
    assert overlap_or_gap(run_kernel(SECTORS, stops, SECTORS.shapes[0], 20)) is None


def test_a_run_that_cannot_be_repeated_in_time_is_left_to_others():
    assert overlap_or_gap(replace(run_of("thread + 32 * j"), patience=0.0)) is None


def test_threads_that_store_nothing_else_are_named_with_the_element_alone():
    one = EXERCISES["scale"]
    kernel = changed("scale", ("cuda.grid(1)", "cuda.blockIdx.x * 32 + cuda.threadIdx.x"))
    words = overlap_or_gap(run_kernel(one, kernel, one.shapes[0], 20))
    assert "both store element 32, and nothing else" in words


@pytest.mark.parametrize(
    ("index", "words"),
    [
        ("min(cuda.grid(1), out.size - 1)", "Threads 231 and 232 of block 3 both store"),
        ("cuda.grid(1) % out.size", "Thread 0 of block 0 and thread 232 of block 3 both store"),
    ],
)
def test_the_threads_that_share_an_element_are_named_if_the_result_is_right(index, words):
    (cause,) = check("scale", changed("scale", ("cuda.grid(1)", index))).causes
    assert f"That is 1.02 stores for an element. {words}" in cause
    assert "loop" not in cause


def test_a_thread_that_stores_an_element_twice_is_named():
    store = "out[i] = factor * x[i]"
    kernel = changed("scale", (store, f"for _ in range(2):\n            {store}"))
    one = EXERCISES["scale"]
    words = stored_twice(run_kernel(one, kernel, one.shapes[0], 20))
    assert words.startswith("Thread 0 of block 0 stores element 0 2 times.")


def test_a_right_kernel_stores_nothing_twice():
    assert stored_twice(run_of(INDEX)) is None


@pytest.mark.parametrize("name", ["grid", "gridsize"])
def test_an_index_without_brackets_gets_its_cure(name):
    (cause,) = check("scale", changed("scale", ("cuda.grid(1)", f"cuda.{name}"))).causes
    assert f"`cuda.{name}` in line 8 is a function, and nothing calls it." in cause
    assert f"write `cuda.{name}(1)`" in cause
