"""Runs whole programs: `python -m virtual_gpu script.py`, the pytest plugin, and their reports.

`launch_log` records every launch; `summary` and `html_page` report the results.
"""
