"""Exercises whose answer is a number: the reader writes a formula, which is checked case by case.

The formula is evaluated from its source code, so none of the reader's Python runs.
"""
