"""Whole programs: `python -m virtual_gpu script.py`, the plugin of pytest, and their reports.

`launch_log` watches every launch; `summary` and `page` say what was found.
"""
