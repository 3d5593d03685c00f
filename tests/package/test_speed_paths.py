"""The fast paths against the plain ones, whatever the number of threads."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

import vbdm
from vbdm.base import threads
from vbdm.spectrum.pieces import connected_pieces
from vbdm.spectrum.solve import pencil_of
from vbdm.trust.epsilon import ritz_values
from vbdm.trust.influences import influences, pair_noise
from vbdm.trust.verification import verify


@pytest.fixture(scope="module")
def operator():
    points = vbdm.datasets.ou(6000, dim=2, random_state=0).points
    return vbdm.estimate_operator(points, "generator")


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    points = vbdm.datasets.ou(5000, dim=2, random_state=1).points
    found = []
    for count in (1, 3):
        monkeypatch.setattr(threads, "n_threads", lambda count=count: count)
        spectrum = vbdm.estimate_operator(points, "generator").spectrum(5)
        found.append([spectrum.eigenvalues, spectrum.standard_errors, spectrum.errors.bias])
    np.testing.assert_array_equal(found[0], found[1])


def test_pieces_come_in_order_and_a_failure_is_raised():
    assert list(threads.in_order(lambda i: i * i, range(50))) == [i * i for i in range(50)]
    with pytest.raises(ZeroDivisionError):
        threads.for_each(lambda i: 1 // i, range(3))


def test_products_equal_those_of_the_merged_matrix(operator):
    block = np.random.default_rng(0).standard_normal((operator.n_points, 3))
    for weights in (operator.alpha_kernel, operator.kernel.weights):
        merged = weights.merged()
        assert abs(merged - merged.T).max() <= 1e-15 * abs(merged).max()
        # Sums of some hundred terms in another order.
        np.testing.assert_allclose(weights @ block, merged @ block, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(
            weights.product(block, power=2), merged.power(2) @ block, rtol=1e-10, atol=1e-12
        )
        np.testing.assert_allclose(weights.row_sums(), merged.sum(axis=1), rtol=1e-13)


def test_only_pairs_within_reach_are_stored(operator):
    assert (operator.alpha_kernel.listed.data > 0).all()
    assert operator.alpha_kernel.listed.data is operator.kernel.weights.listed.data


def test_pieces_equal_those_of_the_whole_matrix():
    rng = np.random.default_rng(0)
    centres = rng.uniform(-1000, 1000, (12, 2))
    points = np.vstack([c + rng.standard_normal((60 + 10 * i, 2)) for i, c in enumerate(centres)])
    pencil = pencil_of(
        vbdm.estimate_operator(points, "generator", method=vbdm.Resolved(n_neighbors=40))
    )
    n, expected = connected_components(pencil.weights.merged(), directed=False)
    labels = connected_pieces(pencil)
    assert labels.max() + 1 == n
    assert len(set(zip(labels.tolist(), expected.tolist(), strict=True))) == n
    assert (np.diff(np.bincount(labels)) <= 0).all()


def test_errors_are_those_of_the_influences(operator):
    spectrum = operator.spectrum(6)
    influence, noise = influences(spectrum), pair_noise(spectrum)
    for group in spectrum.errors.groups[1:]:
        twice = np.sum(influence[:, group].mean(axis=1) ** 2)
        expected = np.sqrt(twice - noise[np.ix_(group, group)].mean())
        np.testing.assert_allclose(spectrum.standard_errors[group], expected, rtol=1e-10)


def test_ritz_values_at_the_same_epsilon_are_the_eigenvalues_of_the_pencil(operator):
    spectrum = operator.spectrum(6, tol=1e-8)
    expected = spectrum.log.pencil_eigenvalues / spectrum.correction
    np.testing.assert_allclose(ritz_values(spectrum, operator), expected, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("n_points", [1800, 3000])
def test_an_independent_solve_agrees(n_points):
    points = vbdm.datasets.ou(n_points, dim=1, random_state=0).points
    spectrum = vbdm.estimate_operator(points, "generator").spectrum(6, tol=1e-7)
    assert verify(spectrum).error < 1e-6
