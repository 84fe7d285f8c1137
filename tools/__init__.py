"""Commands for the course's authors: tables, pages and measurements, by `python -m tools.NAME`."""

import os

from utils.translation import IN_ENGLISH

# What these commands write into the repository does not depend on the language of who runs them.
os.environ.update(IN_ENGLISH)
