"""Exercises about host functions, which the check calls with a device that records what they do.

The record shows their copies, their launches and their measurements.
"""
