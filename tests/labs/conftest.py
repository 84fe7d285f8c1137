"""`--exercises tiling,dot` keeps the cases about these exercises, and drops all others."""


def pytest_collection_modifyitems(config, items):
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
