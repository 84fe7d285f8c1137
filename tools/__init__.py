"""Commands for those who make the course: tables, pages, measurements: `python -m tools.NAME`."""
