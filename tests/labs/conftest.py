"""`--exercises tiling,dot` keeps the cases about these exercises, and drops all others.

With `--dist loadgroup`, one process runs all cases about an exercise, so that each of its versions
is judged once for all tests.
"""

import pytest


# First, because pytest-xdist reads the groups in the same hook.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    for item in items:
        if (exercise := _exercise_of(item)) is not None:
            item.add_marker(pytest.mark.xdist_group(exercise))
    wanted = config.getoption("--exercises")
    if wanted:
        kept = [item for item in items if _exercise_of(item) in wanted.split(",")]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


def _exercise_of(item) -> str | None:
    """Return the name of the exercise that a case is about; None where it is about several."""
    parameters = (getattr(item, "callspec", None) and item.callspec.params) or {}
    exercise = parameters.get("exercise") or parameters.get("name")
    return getattr(exercise, "name", exercise)
