"""Checks after a change: their stages, and the files on which each of them depends.

`python -m tools.ci` runs the stages that the changes since their last complete run can reach, and
`python -m tools.ci --everything` runs all stages on everything.
"""
