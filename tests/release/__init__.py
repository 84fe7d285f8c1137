"""Builds the wheel and checks it where nothing else of the course is.

``python -m tests.release`` needs a network, for pip, and about two minutes.
"""
