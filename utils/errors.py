"""The exceptions whose messages are written for a student; `gpu_xray` defines them."""

from gpu_xray.errors import ArgumentError, CourseError

__all__ = ["ArgumentError", "CourseError"]
