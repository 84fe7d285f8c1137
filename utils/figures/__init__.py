"""Plots of records, drawings for lessons, and the results that README.md shows.

Every function here takes tables or steps and returns a figure with an alt text. Measuring is in
`utils.measuring`.
"""
