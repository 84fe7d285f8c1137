"""The labs as a course of nbgrader, whose step of execution is replaced by grading the text.

Nothing that a student hands in is run, and none of its metadata is believed: the graded notebook is
built anew from the text, so that a cell that was lost, doubled or changed costs nothing and gains
nothing. README.md says how a class is run.
"""
