"""Which cases of a test are marked as slow, and which of them pytest makes no item of."""

from types import SimpleNamespace

import pytest

from tests import fast_cases

TEST = "tests/test_some.py::test_some"


def chosen(monkeypatch, expression: str, in_table: int | None, slow_test: bool = False) -> dict:
    """Return number of a case -> whether it is slow, for those of ten cases that remain.

    Case 3 has a mark of its own. in_table: the number in the table, or None for no row. slow_test:
    whether the test itself is marked as slow.
    """
    rows = {} if in_table is None else {TEST: in_table}
    monkeypatch.setattr(fast_cases, "read", lambda: rows)
    own = pytest.mark.slow.mark
    calls = [SimpleNamespace(number=at, marks=[own] * (at == 3)) for at in range(10)]
    definition = SimpleNamespace(nodeid=TEST, get_closest_marker=lambda name: slow_test or None)
    config = SimpleNamespace(getoption=lambda name: expression)
    metafunc = SimpleNamespace(_calls=calls, definition=definition, config=config)
    fast_cases.choose(metafunc)
    return {one.number: slow_test or bool(one.marks) for one in metafunc._calls}


@pytest.mark.parametrize("in_table", [None, 0, 1, 4, 9, 20])
def test_each_case_is_either_fast_or_slow(monkeypatch, in_table):
    every = chosen(monkeypatch, "", in_table)
    assert len(every) == 10
    assert every[3]
    fast = [number for number in every if not every[number]]
    unmarked = [number for number in range(10) if number != 3]
    assert fast == fast_cases.spread(unmarked, min(9, 9 if in_table is None else in_table))
    without_slow = chosen(monkeypatch, "not slow", in_table)
    only_slow = chosen(monkeypatch, "slow", in_table)
    # Where none remains, one does nevertheless, with its mark, and pytest deselects it.
    assert [number for number in without_slow if not without_slow[number]] == fast
    assert len(without_slow) == max(1, len(fast))
    assert only_slow == {number: True for number in every if every[number]}


def test_of_a_slow_test_one_case_remains_for_pytest_to_deselect(monkeypatch):
    assert chosen(monkeypatch, "not slow", None, slow_test=True) == {0: True}
    assert len(chosen(monkeypatch, "slow", None, slow_test=True)) == 10


def test_other_expressions_and_numbers_of_cases_are_those_of_all_cases(monkeypatch):
    assert len(chosen(monkeypatch, "slow or not slow", 2)) == 10
    assert fast_cases.NUMBERS.pop(TEST) == 9


def test_a_test_without_parameters_keeps_its_number_of_cases():
    fast_cases.NUMBERS.pop(TEST, None)
    fast_cases.choose(SimpleNamespace(_calls=[], definition=SimpleNamespace(nodeid=TEST)))
    assert TEST not in fast_cases.NUMBERS
