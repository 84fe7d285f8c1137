"""The exception that a student meets. `gpu_xray` defines it, because the x-ray raises it, too."""

from gpu_xray.errors import ArgumentError, CourseError

__all__ = ["ArgumentError", "CourseError"]
