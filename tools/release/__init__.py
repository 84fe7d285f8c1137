"""Build the wheel and check it where nothing else of the course is installed.

``python -m tools.release`` needs a network, for pip, and about two minutes.
"""
