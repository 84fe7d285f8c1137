"""What is checked after a change: the stages, and which files each of them depends on.

`python -m tools.ci` runs what the changes since the last whole check can reach, and
`python -m tools.ci --everything` the whole.
"""
