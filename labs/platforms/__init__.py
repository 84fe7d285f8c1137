"""Adapters for nbgrader, JupyterHub and Gradescope, which hand out labs and collect submissions.

Each is a thin layer above `labs.grading`, which gives the marks.
"""
