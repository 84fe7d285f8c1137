"""Plots of records, drawings for lessons, and the results that README.md shows.

Figures come with an alt text. Measuring is in `utils.measuring`.
"""
