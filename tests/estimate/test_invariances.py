"""What must hold for any cloud: symmetries, conservation, and no surprises for the caller."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.estimates import estimate_with

import vbdm

seeds = st.integers(0, 10_000)
drifts = st.sampled_from([0.0, 1.0, -0.5])


def make_cloud(seed, n=80, columns=2):
    return np.random.default_rng(seed).standard_normal((n, columns))


def estimate(X, c1=1.0, **options):
    defaults = {"method": "paper", "dim": 2.0, "epsilon": 0.02, "n_neighbors": 40}
    return estimate_with(X, c1, **defaults | options)


@given(seeds, drifts)
def test_constants_are_in_the_kernel(seed, c1):
    op = estimate(make_cloud(seed), c1)
    scale = abs(op.matrix).max()
    assert np.abs(op @ np.ones(80)).max() < 1e-12 * scale


@given(seeds, drifts)
def test_self_adjoint_and_nonpositive(seed, c1):
    op = estimate(make_cloud(seed), c1)
    symmetric = op.symmetric
    scale = abs(symmetric).max()
    assert abs(symmetric - symmetric.T).max() < 1e-13 * scale
    assert np.linalg.eigvalsh(symmetric.toarray()).max() < 1e-10 * scale
    assert (op.spectrum(8).eigenvalues <= 0).all()


@given(seeds, drifts)
def test_conjugate_has_the_same_spectrum(seed, c1):
    op = estimate(make_cloud(seed), c1)
    left = np.sort(np.linalg.eigvals(op.matrix.toarray()).real)
    right = np.linalg.eigvalsh(op.symmetric.toarray())
    np.testing.assert_allclose(left, right, atol=1e-8 * abs(right).max())


@given(seeds)
def test_permutation(seed):
    X = make_cloud(seed)
    order = np.random.default_rng(seed + 1).permutation(len(X))
    one, two = estimate(X), estimate(X[order])
    np.testing.assert_allclose(
        two.matrix.toarray(), one.matrix.toarray()[order][:, order], atol=1e-9
    )
    np.testing.assert_allclose(two.density, one.density[order], rtol=1e-10)


@given(seeds, st.floats(0, 6.28), st.tuples(st.floats(-50, 50), st.floats(-50, 50)))
def test_rotation_and_translation(seed, turn, shift):
    X = make_cloud(seed)
    c, s = np.cos(turn), np.sin(turn)
    moved = X @ np.array([[c, s], [-s, c]]) + np.array(shift)
    one, two = estimate(X), estimate(moved)
    scale = abs(one.matrix).max()
    # Moving by 50 costs two digits of the distances.
    assert abs(one.matrix - two.matrix).max() < 1e-9 * scale


@given(seeds, st.floats(0.01, 100))
def test_scaling_the_data(seed, factor):
    """X → cX: with ε following the unit of t, all eigenvalues are divided by c²."""
    X = make_cloud(seed)
    one = estimate(X, epsilon=0.02)
    # ρ = q^{-1/2} grows like c^{d/2}, so that ε in its unit goes like c^{2-d}: c⁰ at d = 2.
    two = estimate(factor * X, epsilon=0.02)
    np.testing.assert_allclose(two.widths, factor * one.widths, rtol=1e-9)
    values = one.spectrum(5).eigenvalues
    np.testing.assert_allclose(two.spectrum(5).eigenvalues * factor**2, values, atol=1e-8)


@given(seeds, st.floats(0.1, 10))
def test_scaling_the_bandwidth(seed, factor):
    """ρ → cρ with ε → ε/c² changes nothing."""
    X = make_cloud(seed)
    rho = 1 + X[:, 0] ** 2
    one = vbdm.estimate_operator(X, method="paper", bandwidth=rho, dim=2, epsilon=0.05)
    two = vbdm.estimate_operator(
        X, method="paper", bandwidth=factor * rho, dim=2, epsilon=0.05 / factor**2
    )
    assert abs(one.matrix - two.matrix).max() < 1e-10 * abs(one.matrix).max()
    np.testing.assert_allclose(one.density, two.density, rtol=1e-10)


@given(seeds)
def test_inputs_stay_and_answers_repeat(seed):
    X = make_cloud(seed)
    before = X.copy()
    first, second = estimate(X).spectrum(5), estimate(X).spectrum(5)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(first.eigenvalues, second.eigenvalues)
    np.testing.assert_array_equal(first.eigenfunctions, second.eigenfunctions)


@given(seeds)
def test_eigenfunctions_have_mean_square_one_and_a_positive_peak(seed):
    phi = estimate(make_cloud(seed)).spectrum(6).eigenfunctions
    np.testing.assert_allclose((phi**2).mean(axis=0), 1, rtol=1e-10)
    assert (phi.max(axis=0) >= -phi.min(axis=0) * (1 - 1e-6)).all()
    np.testing.assert_allclose(phi[:, 0], 1, rtol=1e-10)


@given(seeds)
def test_order_of_memory_and_type_do_not_matter(seed):
    X = make_cloud(seed).round(2)
    plain = estimate(X).density
    np.testing.assert_array_equal(estimate(np.asfortranarray(X)).density, plain)
    np.testing.assert_array_equal(estimate(X.tolist()).density, plain)


# The same for the default method, with everything automatic. The dense solver is exact, so that
# only rounding is left; ε is bisected to 1e-12.


def automatic(X, c1=1.0, n=5):
    return vbdm.estimate_operator(X, c1).spectrum(n, solver=vbdm.solvers.Dense())


few = settings(max_examples=8)


@few
@given(seeds)
def test_resolved_permutation(seed):
    X = make_cloud(seed, n=200)
    order = np.random.default_rng(seed + 1).permutation(len(X))
    one, two = automatic(X), automatic(X[order])
    np.testing.assert_allclose(two.eigenvalues, one.eigenvalues, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(two.operator.density, one.operator.density[order], rtol=1e-8)
    np.testing.assert_allclose(two.standard_errors, one.standard_errors, rtol=1e-5, atol=1e-9)


@few
@given(seeds, st.floats(0, 6.28), st.floats(-20, 20))
def test_resolved_motion_and_constant_columns(seed, turn, shift):
    X = make_cloud(seed, n=200)
    c, s = np.cos(turn), np.sin(turn)
    moved = np.c_[X @ np.array([[c, s], [-s, c]]) + shift, np.full(200, 3.0)]
    np.testing.assert_allclose(
        automatic(moved).eigenvalues, automatic(X).eigenvalues, rtol=1e-6, atol=1e-9
    )


@few
@given(seeds, st.floats(0.001, 1000))
def test_resolved_scaling(seed, factor):
    X = make_cloud(seed, n=200)
    one, two = automatic(X), automatic(factor * X)
    np.testing.assert_allclose(two.eigenvalues * factor**2, one.eigenvalues, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(two.eigenfunctions[:, 1], one.eigenfunctions[:, 1], atol=1e-5)
    assert two.operator.dim == pytest.approx(one.operator.dim)


@few
@given(seeds, drifts)
def test_resolved_conserves_constants_and_is_symmetric(seed, c1):
    op = vbdm.estimate_operator(make_cloud(seed, n=200), c1)
    scale = abs(op.matrix).max()
    assert np.nanmax(np.abs(op @ np.ones(200))) < 1e-12 * scale
    assert abs(op.symmetric - op.symmetric.T).max() < 1e-13 * abs(op.symmetric).max()
    np.testing.assert_allclose(op.matrix @ op.bandwidth, op @ op.bandwidth, atol=1e-9 * scale)


@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_an_odd_unit_changes_nothing(unit):
    X = make_cloud(4000, n=200)
    one, other = (vbdm.estimate_operator(points).spectrum(4) for points in (X, unit * X))
    np.testing.assert_allclose(other.eigenvalues * unit**2, one.eigenvalues, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(other.extent[1:], one.extent[1:], rtol=1e-6)


@pytest.mark.parametrize(("columns", "unit"), [(2, 1e-155), (2, 1e150), (30, 1e-60), (30, 1e60)])
def test_a_unit_without_densities_is_refused_in_words(columns, unit):
    with pytest.raises(vbdm.InputError, match="too near to each other, or too far apart"):
        vbdm.estimate_operator(unit * make_cloud(0, n=200, columns=columns))
