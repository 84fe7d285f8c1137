import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.errors import CourseError
from utils.ladder.shapes import GemmShape, ReduceShape, parse_gemm, parse_reduce

SIZES = st.integers(1, 10**9)


def test_a_gemm_counts_two_operations_per_multiply_add():
    assert GemmShape(2, 3, 5).flops == 60


def test_a_gemm_moves_each_matrix_at_least_once():
    # The workload of Araujo: it counts 20.8 MB for A and B, and 4.8 MB for C.
    assert GemmShape(2000, 600, 2000).bytes_min == 20_800_000 + 4_800_000


def test_a_reduction_reads_four_bytes_per_element():
    shape = ReduceShape(10)
    assert (shape.flops, shape.bytes_min) == (10, 40)


def test_one_number_is_a_square():
    assert parse_gemm("1024") == GemmShape(1024, 1024, 1024)


@pytest.mark.parametrize("text", ["2000x600x2001", "2000×600×2001", " 2000X600 x 2001 "])
def test_three_numbers_are_m_n_k(text):
    assert parse_gemm(text) == GemmShape(m=2000, n=600, k=2001)


def test_a_power_of_two_is_understood():
    million = ReduceShape(1 << 20)
    assert parse_reduce("2^20") == parse_reduce("2²⁰") == parse_reduce("1048576") == million


@given(SIZES, SIZES, SIZES)
def test_a_printed_gemm_shape_can_be_read_back(m, n, k):
    assert parse_gemm(str(GemmShape(m, n, k))) == GemmShape(m, n, k)


@given(SIZES | st.integers(0, 40).map(lambda exponent: 2**exponent))
def test_a_printed_reduce_shape_can_be_read_back(elements):
    assert parse_reduce(str(ReduceShape(elements))) == ReduceShape(elements)


def test_large_powers_are_printed_as_powers():
    assert [str(ReduceShape(n)) for n in (8, 1024, 1025)] == ["8", "2¹⁰", "1025"]


@pytest.mark.parametrize("text", ["", "abc", "12x34", "1x2x3x4", "-1", "1.5", "0", "4x0x4", "2^"])
def test_what_is_no_matrix_size_is_refused_with_an_example(text):
    with pytest.raises(CourseError, match=f"'{text.replace('^', '.')}'.*2000x600x2000"):
        parse_gemm(text)


@pytest.mark.parametrize("text", ["", "4x4", "0", "2^-1", "2^999999999", "²", "1²", "2²x"])
def test_what_is_no_number_of_elements_is_refused_with_an_example(text):
    with pytest.raises(CourseError, match=r"1048576, or a power such as 2\^20"):
        parse_reduce(text)


def test_a_notebook_shows_only_the_sentence_of_an_error():
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    shown = []
    shell._showtraceback = lambda kind, error, lines: shown.extend(lines)
    shell.run_cell("from utils.errors import CourseError\nraise CourseError('Choose another.')")
    assert shown == ["Choose another."]
