"""Pictures: plots of records, rooflines, occupancy, and what README.md shows.

Figures take tables and steps and return figures with an alt text. What measures stays out.
"""
