"""The one exception that a student meets. The x-ray raises it, too, and so it lies there."""

from gpu_xray.errors import ArgumentError, CourseError

__all__ = ["ArgumentError", "CourseError"]
