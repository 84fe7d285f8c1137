"""Where labs are handed out and handed in: nbgrader, JupyterHub and Gradescope.

Each is a thin layer above labs.grading, which gives the marks.
"""
