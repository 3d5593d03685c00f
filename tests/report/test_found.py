"""What was found, in plain words, on clouds whose truth is known; the limits were set on others."""

import functools
import re

import numpy as np
import pytest
from sklearn.datasets import load_iris

import vbdm
from vbdm.report.found import sizes_in_words, split, what_was_found

SEEDS = (4100,)


def wells(seed):
    """Points of the density exp(-4 (x² - 1)²) along x, with a little width across."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-2, 2, 4001)
    share = np.cumsum(np.exp(-4 * (x * x - 1) ** 2))
    return np.c_[np.interp(rng.random(600), share / share[-1], x), 0.3 * rng.normal(size=600)]


def blobs(seed, k, apart):
    rng, angles = np.random.default_rng(seed), 2 * np.pi * np.arange(k) / k
    centres = apart * np.c_[np.cos(angles), np.sin(angles)]
    return centres[rng.integers(0, k, 500)] + rng.normal(size=(500, 2))


def segment(seed):
    t = 3 * np.random.default_rng(seed).random(300)
    return np.c_[t, np.sin(t), np.cos(2 * t)]


@functools.cache
def words(cloud, seed, operator="laplacian"):
    points = {
        "circle": lambda: vbdm.datasets.circle(300, sampling="random", random_state=seed).points,
        "sphere": lambda: vbdm.datasets.sphere(700, random_state=seed).points,
        "segment": lambda: segment(seed),
        "line": lambda: vbdm.datasets.ou(400, dim=1, random_state=seed).points,
        "plane": lambda: vbdm.datasets.ou(400, dim=2, random_state=seed).points,
        "wells": lambda: wells(seed),
        "two pieces": lambda: blobs(seed, 2, 20),
        "three groups": lambda: blobs(seed, 3, 4),
        "iris": lambda: load_iris().data,
    }[cloud]()
    return what_was_found(vbdm.estimate_operator(points, operator).spectrum(10))


@pytest.mark.parametrize("seed", SEEDS)
def test_curves_are_closed_or_open(seed):
    assert words("circle", seed) == "The points lie along a closed curve."
    assert words("segment", seed) == "The points lie along an open curve."
    said = words("line", seed, "generator")
    assert said == "The points lie along an open curve. No slow mode stands out."


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sphere(seed):
    assert "as on a sphere, of radius" in words("sphere", seed)
    radius = float(words("sphere", seed).removesuffix(".").split()[-1])
    assert radius == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_gaussian_has_no_slow_mode(seed):
    said = words("plane", seed, "generator")
    assert said.startswith("The points fill a region of dimension 2")
    assert said.endswith("No slow mode stands out.")


@pytest.mark.parametrize("seed", SEEDS)
def test_two_wells_are_two_groups_with_one_slow_mode(seed):
    said, left = words("wells", seed, "generator"), int((wells(seed)[:, 0] < 0).sum())
    assert said.startswith("Two groups, of ")
    sizes = [int(word) for word in re.findall(r"\d+", said.split(" points")[0])]
    assert sum(sizes) == 600
    assert min(abs(size - left) for size in sizes) < 15
    # The truth is 93: the words claim what the intervals allow, and not more.
    ratio = float(said.split("at least ")[1].split()[0])
    assert 3 <= ratio <= 93


@pytest.mark.parametrize("seed", SEEDS)
def test_pieces_and_groups_are_counted(seed):
    assert words("two pieces", seed, "generator").startswith(
        "The points fall into two separate pieces, of "
    )
    assert words("three groups", seed, "generator").startswith("Three groups, of ")
    assert "Two slow modes tell them apart" in words("three groups", seed, "generator")


def test_iris_has_two_groups_with_either_operator():
    for operator in ("laplacian", "generator"):
        said = words("iris", 0, operator)
        assert said.startswith("Two groups, of 100 and 50 points, with no point between them.")
    # The Laplacian's intervals are too wide for a ratio.
    assert "the errors do not tell" in words("iris", 0)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_eigenvalues_are_enough(n):
    op = vbdm.estimate_operator(vbdm.datasets.circle(200, random_state=0).points)
    assert what_was_found(op.spectrum(n)).startswith("The points lie along a")


def test_forms_without_error_bars_have_words():
    points = vbdm.datasets.circle(200, random_state=0).points
    op = vbdm.estimate_operator(points, method=vbdm.Paper(form="left"))
    assert what_was_found(op.spectrum(5)) == "The points lie along a closed curve."


def test_no_mode_is_slow_in_the_space_of_delays():
    op = vbdm.estimate_operator(wells(4100), "generator")
    assert "slow mode" in what_was_found(op.spectrum(5))
    said = what_was_found(op.spectrum(5), {"delays": 3})
    assert "One small eigenvalue tells them apart" in said
    assert "slow" not in said


def test_a_slow_mode_without_groups_stands_out():
    """The second mode of an evenly filled line is four times as fast as the first."""
    line = np.random.default_rng(4100).random((1000, 1))
    said = what_was_found(vbdm.estimate_operator(line, "generator").spectrum(5))
    assert said.startswith("The points lie along an open curve. One slow mode stands out, at least")
    assert 3 <= float(said.split("at least ")[1].split()[0]) <= 4


def test_of_many_pieces_the_largest_are_named():
    assert sizes_in_words(np.array([5, 9])) == "9 and 5"
    assert sizes_in_words(np.arange(1, 9) * 1000) == "8,000, 7,000, 6,000, 5,000, 4,000, 3,000, …"


def test_a_few_points_apart_are_no_group():
    values = np.r_[np.zeros(99), 100.0][:, None]
    assert split(values) is None
    assert split(np.r_[np.zeros(90), np.full(10, 100.0)][:, None]).sizes.tolist() == [10, 90]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cycle_is_seen_in_a_thick_ring_and_not_in_a_disc(seed):
    rng = np.random.default_rng(seed)
    angle, across = 2 * np.pi * rng.random(600), rng.uniform(-1, 1, (600, 2))
    ring = np.c_[4 * np.cos(angle), 4 * np.sin(angle), across]
    said = what_was_found(vbdm.estimate_operator(ring).spectrum(6))
    assert said.endswith("a cycle runs through the points.")
    disc = np.sqrt(rng.random(600))[:, None] * np.c_[np.cos(angle), np.sin(angle)]
    assert "cycle" not in what_was_found(vbdm.estimate_operator(disc).spectrum(6))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_noisy_curve_is_a_curve_with_its_dimension(seed):
    points = segment(seed) + 0.03 * np.random.default_rng(seed).normal(size=(300, 3))
    said = what_was_found(vbdm.estimate_operator(points).spectrum(6))
    assert said.startswith("The points lie along an open curve, though their dimension is 1.")
