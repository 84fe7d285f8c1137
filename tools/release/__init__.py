"""Builds the wheel and checks it where nothing else of the course is.

``python -m tools.release`` needs a network, for pip, and about two minutes.
"""
