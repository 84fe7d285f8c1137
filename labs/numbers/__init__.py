"""Exercises whose answer is a number: formulas, evaluated by their text case by case.

The evaluator runs nothing of the reader's Python.
"""
