"""Each order of an outer product visits every sum once."""

import pytest

from utils.lessons.lesson_16.product_orders import ORDERS, draw_orders, shared


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("n", [1, 2, 3, 8])
def test_every_sum_is_visited_once(order, n):
    assert sorted(order(n)) == [(i, j) for i in range(n) for j in range(n)]


def test_steps_that_share_an_operand_are_counted():
    assert shared([(0, 0), (0, 1), (1, 1), (2, 0)]) == 2
    assert "row by row: 7 steps change both row and column" in str(draw_orders())
