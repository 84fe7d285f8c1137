"""Replays Colab: its packages, an empty folder, the first cell of a notebook that stands alone.

``python -m tools.colab`` runs every lesson so; it takes some minutes, a network and Python 3.13.
"""
