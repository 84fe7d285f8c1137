"""Reproduce Colab: its packages, an empty folder, and the first cell that fetches the course.

``python -m tools.colab`` runs every lesson this way. It takes some minutes and needs a network and
Python 3.13.
"""
