"""Exercises whose answer is a number: formulas, evaluated from their source code case by case.

The evaluator runs none of the reader's Python.
"""
