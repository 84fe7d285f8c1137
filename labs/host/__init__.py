"""Exercises about functions of the host: they are called, with a device that keeps a record.

What crossed the bus, what was launched and what was measured is read from that record.
"""
