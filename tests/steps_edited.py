"""Make known-wrong kernels from right ones, by editing a step's own file."""

from utils.ladder.step import Step
from utils.lessons.edits import Edit, edited


def edited_step(step: Step, old: str, new: str, occurrence: int = 0) -> Step:
    """Return the step that its file would define if it held `new` instead of `old`."""
    return edited(step.file, Edit(old, new, occurrence)).STEP
