"""Known-wrong kernels, made from the right ones: a step whose own file was edited."""

from utils.ladder.step import Step
from utils.lessons.edits import Edit, edited


def edited_step(step: Step, old: str, new: str, occurrence: int = 0) -> Step:
    """The step that its file would define if it held `new` in place of `old`."""
    return edited(step.file, Edit(old, new, occurrence)).STEP
