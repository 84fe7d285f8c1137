"""Adapters for nbgrader, JupyterHub and Gradescope, where labs are handed out and handed in.

Each is a thin layer above `labs.grading`, which gives the marks.
"""
