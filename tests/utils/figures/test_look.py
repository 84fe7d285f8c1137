"""Tests that colours can be seen on light and dark pages, also without red or green cones."""

from itertools import combinations

import numpy as np
import pytest

from utils.figures.look import COLOURS, INK, QUIET, mixed, of_text

LIGHT, DARK = "#ffffff", "#212121"
DARK_INK = "#e6edf3"
# Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision
# Deficiency", 2009: without green cones, without red ones.
SEEN_BY = {
    "all cones": np.eye(3),
    "no green cones": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
         [-0.011820, 0.042940, 0.968881]]
    ),
    "no red cones": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
         [-0.003882, -0.048116, 1.051998]]
    ),
}  # fmt: skip
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    low, high = sorted(TO_XYZ[1] @ linear(colour) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(rgb):
    relative = TO_XYZ @ rgb / np.array([0.9505, 1, 1.089])
    x, y, z = np.where(relative > 0.008856, np.cbrt(relative), 7.787 * relative + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one, other, vision):
    """Return the distance of two colours in CIELAB. vision: a matrix of SEEN_BY."""
    first, second = (lab(np.clip(vision @ linear(colour), 0, 1)) for colour in (one, other))
    return np.linalg.norm(first - second)


@pytest.mark.parametrize("colour", COLOURS)
def test_a_line_stands_out_from_light_and_from_dark_ground(colour):
    assert contrast(colour, LIGHT) >= 3
    assert contrast(colour, DARK) >= 3


@pytest.mark.parametrize("colour", COLOURS)
def test_a_label_in_a_series_colour_is_read_on_light_and_on_dark_ground(colour):
    assert contrast(of_text(colour), LIGHT) >= 4.5
    assert contrast(mixed(colour, DARK_INK), DARK) >= 4.5


@pytest.mark.parametrize("colour", [INK, QUIET])
def test_neutral_words_are_read_on_light_ground(colour):
    assert contrast(colour, LIGHT) >= 4.5


def test_a_pale_colour_would_be_found():
    assert contrast("#f0e442", LIGHT) < 3


@pytest.mark.parametrize("who", SEEN_BY)
def test_no_two_series_look_alike(who):
    assert min(distance(*pair, SEEN_BY[who]) for pair in combinations(COLOURS, 2)) >= 20


def test_red_and_green_of_one_lightness_would_be_found():
    assert distance("#d55e00", "#8f7000", SEEN_BY["all cones"]) > 20
    assert distance("#d55e00", "#8f7000", SEEN_BY["no green cones"]) < 20
