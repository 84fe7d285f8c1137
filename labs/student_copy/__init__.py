"""A copy of the course for students, without solutions, answers and right kernels.

`files` says what is copied, `lessons` and `exercises` change what gives an answer away, and `write`
makes the folder. `labs/GUIDE.md` says what students can still find in it.
"""
