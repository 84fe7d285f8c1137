"""Exercises about host functions, which the check calls with a model of a device.

The device records what the functions do: their copies, their launches and their measurements.
"""
