"""A copy of the course for students, without solutions, answers and right kernels.

`files` lists what is copied, `lessons` and `exercises` remove answers from files, and `write`
writes the folder. `labs/GUIDE.md` says which answers students can still find in it.
"""
