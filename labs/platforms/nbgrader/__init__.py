"""The labs as an nbgrader course in which submissions are graded by their text instead of executed.

Nothing that a student hands in is run, and none of its metadata is trusted. The graded notebook is
built anew from the text, so a cell that was lost, duplicated or changed does not change the points.
README.md explains how to run a class.
"""
