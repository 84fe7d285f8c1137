"""Packages that the course is built with: ladders, measuring, figures, lessons and intrinsics.

Importing this package lets the course's files use the chosen compiler, as `utils.compilers`
explains. Import `kernels_anywhere` to let kernels run without a CUDA device.
"""

from utils.compilers import choice, imports

imports.use(choice.chosen())
