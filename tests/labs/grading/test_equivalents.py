"""Rules that spell a function in another way and do not change what it does."""

import ast

from labs.grading.equivalents import renamed

RAISED = "def raised(x, power):\n    power = power + 1\n    total = x**power\n    return total\n"


def test_a_parameter_that_is_assigned_keeps_its_name_everywhere():
    text = ast.unparse(renamed(ast.parse(RAISED)))
    assert "my_total" in text
    assert "my_power" not in text
    names = {}
    exec(text, names)
    assert names["raised"](3, power=1) == 9
