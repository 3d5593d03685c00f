"""Every mistake gets one clear message."""

from functools import partial

import numpy as np
import pytest

import vbdm

X = np.random.default_rng(0).standard_normal((50, 2))


def nan_row():
    bad = X.copy()
    bad[7, 1] = np.nan
    return bad


BAD_CALLS = {
    "nan": (lambda: vbdm.neighbors(nan_row()), "finite.*first at row 7"),
    "inf": (lambda: vbdm.estimate_operator(np.where(X > 2, np.inf, X * 10)), "finite"),
    "one-dimensional": (lambda: vbdm.neighbors(X[:, 0]), r"reshape\(-1, 1\)"),
    "three-dimensional": (lambda: vbdm.neighbors(X[None]), "shape"),
    "no columns": (lambda: vbdm.neighbors(np.empty((5, 0))), "table"),
    "one point": (lambda: vbdm.neighbors(X[:1]), "two points"),
    "empty": (lambda: vbdm.neighbors(np.empty((0, 2))), "two points"),
    "text": (lambda: vbdm.neighbors([["a", "b"], ["c", "d"]]), "real numbers"),
    "ragged": (lambda: vbdm.neighbors([[1, 2], [3]]), "real numbers"),
    "complex": (lambda: vbdm.neighbors(X * 1j), "real numbers"),
    "too many neighbours": (lambda: vbdm.neighbors(X, 51), "from 2 to 50"),
    "one neighbour": (lambda: vbdm.neighbors(X, 1), "n_neighbors"),
    "fractional neighbours": (lambda: vbdm.neighbors(X, 10.5), "integer"),
    "boolean neighbours": (lambda: vbdm.neighbors(X, True), "integer"),
    "k0 above k": (
        lambda: vbdm.estimate_operator(
            X, method=vbdm.Paper(n_neighbors=10, n_density_neighbors=11)
        ),
        "n_density_neighbors",
    ),
    "unknown operator": (lambda: vbdm.estimate_operator(X, "laplace"), "'laplacian', 'generator'"),
    "nan operator": (lambda: vbdm.estimate_operator(X, np.nan), "operator"),
    "unknown method": (lambda: vbdm.estimate_operator(X, method="papers"), "method"),
    "unknown form": (lambda: vbdm.estimate_operator(X, method=vbdm.Paper(form="middle")), "form"),
    "unknown shape": (
        lambda: vbdm.estimate_operator(X, method=vbdm.Resolved(shape="box")),
        "shape",
    ),
    "zero epsilon": (lambda: vbdm.estimate_operator(X, epsilon=0), "epsilon.*a number above 0"),
    "one point in many columns": (
        lambda: vbdm.estimate_operator(np.ones((30, 60))),
        "All points are the same",
    ),
    "tiny epsilon": (
        lambda: vbdm.estimate_operator(X, epsilon=1e-300).spectrum(3),
        "No two points are joined",
    ),
    "absurd c1": (lambda: vbdm.estimate_operator(X, 1e9), "Powers of the density overflow"),
    "text epsilon": (lambda: vbdm.estimate_operator(X, epsilon="small"), "epsilon"),
    "negative dim": (lambda: vbdm.estimate_operator(X, dim=-1), "dim"),
    "text beta": (
        lambda: vbdm.estimate_operator(X, bandwidth=vbdm.rules.PowerOfDensity("minus")),
        "beta",
    ),
    "operator and alpha": (
        lambda: vbdm.estimate_operator(X, "laplacian", method=vbdm.Resolved(alpha=0.5)),
        "operator.*alpha.*contradict",
    ),
    "operator and potential": (
        lambda: vbdm.estimate_operator(X, 1.0, potential=X[:, 0]),
        "operator.*potential.*contradict",
    ),
    "number as bandwidth": (
        lambda: vbdm.estimate_operator(X, bandwidth=0.5),
        "`bandwidth` must be 'auto', an object",
    ),
    "bandwidth and potential": (
        lambda: vbdm.estimate_operator(X, bandwidth=np.ones(50), potential=np.ones(50)),
        "contradict",
    ),
    "negative bandwidth": (
        lambda: vbdm.estimate_operator(X, bandwidth=X[:, 0], method="paper"),
        "positive everywhere",
    ),
    "short bandwidth": (
        lambda: vbdm.estimate_operator(X, bandwidth=np.ones(49), method="paper"),
        r"shape \(49,\)",
    ),
    "one bandwidth for two": (
        lambda: vbdm.estimate_operator(
            X, bandwidth=np.ones(50), method=vbdm.Paper(form="two-sided")
        ),
        "pair of bandwidths",
    ),
    "two bandwidths for one": (
        lambda: vbdm.estimate_operator(X, bandwidth=(np.ones(50), np.ones(50))),
        "pair of bandwidths",
    ),
    "absurd potential": (
        lambda: vbdm.estimate_operator(X, potential=1e6 * X[:, 0], method="paper"),
        "too wide a range",
    ),
    "potential in wrong units": (
        lambda: vbdm.estimate_operator(X, potential=1e6 * X[:, 0]),
        "too wide a range.*units of kT",
    ),
    "potential of wrong length": (
        lambda: vbdm.estimate_operator(X, potential=np.ones(49)),
        "`potential`",
    ),
    "tune on points": (lambda: vbdm.rules.tune(X), "NeighborGraph"),
    "function of wrong length": (
        lambda: vbdm.estimate_operator(X, dim=2) @ np.ones(49),
        "shape",
    ),
    "function with nan": (
        lambda: vbdm.estimate_operator(X, dim=2) @ np.full(50, np.nan),
        "finite",
    ),
    "zero eigenvalues": (lambda: vbdm.estimate_operator(X, dim=2).spectrum(0), "from 1 to 50"),
    "too many eigenvalues": (lambda: vbdm.estimate_operator(X, dim=2).spectrum(51), "from 1 to 50"),
    "many copies": (
        lambda: vbdm.estimate_operator(np.repeat(X[:5], 10, axis=0), method="paper"),
        "coincide",
    ),
    "graph and neighbours": (
        lambda: vbdm.estimate_operator(vbdm.neighbors(X, 20), method=vbdm.Paper(n_neighbors=30)),
        "already built",
    ),
    "bad graph": (lambda: vbdm.NeighborGraph.from_arrays([[0, 1]], [[0.0, 1.0]]), "fit together"),
    "graph not sorted": (
        lambda: vbdm.NeighborGraph.from_arrays([[0, 1], [1, 0]], [[0.0, -1.0], [0.0, 1.0]]),
        "out of order",
    ),
    "graph of floats": (
        lambda: vbdm.NeighborGraph.from_arrays([[0.0, 1.0], [1.0, 0.0]], [[0, 1], [0, 1]]),
        "float64",
    ),
    "points do not match the graph": (
        lambda: vbdm.NeighborGraph.from_arrays([[0, 1], [1, 0]], [[0, 1], [0, 1]], X),
        "same number of rows",
    ),
    "function without points": (
        lambda: vbdm.estimate_operator(
            vbdm.NeighborGraph.from_arrays([[0, 1], [1, 0]], [[0.0, 1], [0, 1]]),
            bandwidth=lambda X: np.ones(2),
            dim=1,
            method=vbdm.Paper(n_density_neighbors=2),
        ),
        "graph, which has none",
    ),
    "align lengths": (lambda: vbdm.align(np.ones(3), np.ones(4)), "same points"),
    "align kind": (lambda: vbdm.align(np.ones(3), np.ones(3), "affine"), "kind"),
    "align orthogonal counts": (
        lambda: vbdm.align(np.ones((3, 2)), np.ones((3, 1)), "orthogonal"),
        "as many",
    ),
    "unsymmetric spectrum of a large cloud": (
        lambda: vbdm.estimate_operator(
            np.random.default_rng(0).standard_normal((3001, 1)),
            dim=1,
            epsilon=1e-4,
            method=vbdm.Paper(form="left"),
        ).spectrum(3),
        "3000 points at most",
    ),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_message(case):
    call, message = BAD_CALLS[case]
    with pytest.raises(vbdm.InputError, match=message):
        call()


def test_messages_say_what_was_received_and_what_is_wanted():
    with pytest.raises(vbdm.InputError, match="must be an integer, from 2 to 50; received 51"):
        vbdm.neighbors(X, 51)


MORE_BAD_CALLS = {
    "two points": (lambda: vbdm.estimate_operator(X[:2]), "dimension cannot be estimated"),
    "huge values": (lambda: vbdm.estimate_operator(1e200 * X), "too far apart"),
    "absurd dim": (lambda: vbdm.estimate_operator(X, dim=1000), "at most 100"),
    "orthogonal points": (lambda: vbdm.estimate_operator(np.eye(40)), "nearly equal"),
    "twelve copies each": (
        lambda: vbdm.estimate_operator(np.repeat(X[:40], 12, axis=0), method="paper"),
        "Drop repeated rows",
    ),
    "one point only": (lambda: vbdm.estimate_operator(np.ones((30, 2))), "All points are the same"),
    "absurd effort": (lambda: vbdm.estimate_operator(X, effort=100), "from 0.25 to 16"),
    "effort in the paper's method": (
        lambda: vbdm.estimate_operator(X, method="paper", effort=2),
        "no `effort`",
    ),
    "array for a switch": (
        lambda: vbdm.estimate_operator(X, method=vbdm.Resolved(limiter=np.ones(3))),
        "limiter",
    ),
    "array for epsilon": (lambda: vbdm.estimate_operator(X, epsilon=np.ones(3)), "epsilon"),
    "weights and alpha": (
        lambda: vbdm.estimate_operator(X, weights=np.ones(50), method=vbdm.Resolved(alpha=0.5)),
        "weights.*alpha.*contradict",
    ),
    "weights and bandwidth": (
        lambda: vbdm.estimate_operator(X, weights=np.ones(50), bandwidth=np.ones(50)),
        "weights.*bandwidth.*contradict",
    ),
    "weights and potential": (
        lambda: vbdm.estimate_operator(X, weights=np.ones(50), potential=X[:, 0]),
        "weights.*potential.*contradict",
    ),
    "weights in another form": (
        lambda: vbdm.estimate_operator(
            X, 1.0, weights=np.ones(50), method=vbdm.Paper(form="right")
        ),
        "symmetric form takes `weights`",
    ),
    "weights of wrong length": (
        lambda: vbdm.estimate_operator(X, "generator", weights=np.ones(49)),
        "`weights` must hold one number per point",
    ),
    "negative weights": (
        lambda: vbdm.estimate_operator(X, "generator", weights=np.linspace(-1, 1, 50)),
        "25 of 50 negative.*np.exp",
    ),
    "nan weights": (
        lambda: vbdm.estimate_operator(X, "generator", weights=np.full(50, np.nan)),
        "weights",
    ),
    "weights of zero": (
        lambda: vbdm.estimate_operator(X, "generator", weights=np.arange(50.0)),
        r"1 of 50 equal to zero.*Leave these points out, X\[w > 0\]",
    ),
    "all weights zero": (
        lambda: vbdm.estimate_operator(X, "generator", weights=np.zeros(50)),
        "all equal to zero",
    ),
    "weights over too wide a range": (
        lambda: vbdm.estimate_operator(X, "generator", weights=np.logspace(-300, 0, 50)),
        "`weights` span too wide a range",
    ),
    "weights on one point": (
        lambda: vbdm.estimate_operator(X, "generator", weights=np.logspace(-60, 0, 50)),
        "too few points.*unit of the bias",
    ),
    "unknown way of weights": (
        lambda: vbdm.estimate_operator(
            X, "generator", weights=np.ones(50), method=vbdm.Resolved(weights_as="both")
        ),
        "weights_as.*'measure', 'counts'",
    ),
    "kernel cut above its half": (
        lambda: vbdm.estimate_operator(X, method=vbdm.Resolved(truncation=0.6)),
        "`truncation`.*above 0 to 0.5",
    ),
    "kernel cut nowhere": (
        lambda: vbdm.estimate_operator(X, method=vbdm.Resolved(truncation=0)),
        "`truncation`",
    ),
    "left potential": (
        lambda: vbdm.estimate_operator(X, potential=X[:, 0], method=vbdm.Paper(form="left")),
        "left form",
    ),
    "opinion on points": (lambda: vbdm.second_opinion(X), "class Operator"),
    "repeated neighbour": (
        lambda: vbdm.NeighborGraph.from_arrays(
            [[0, 1, 1], [1, 0, 2], [2, 1, 0]], [[0, 1, 1], [0, 1, 1], [0, 1, 4]]
        ),
        "out of order",
    ),
    "error bars of the left form": (
        lambda: (
            vbdm.estimate_operator(X, dim=2, method=vbdm.Paper(form="left")).spectrum(3).errors.bias
        ),
        "Error bars need",
    ),
}


UNKNOWN = {
    "field of the method": (
        partial(vbdm.estimate_operator, X, n_neighbors=40),
        r"method=vbdm.Resolved\(n_neighbors=…\)",
    ),
    "field of the paper's method": (
        partial(vbdm.Resolved, form="right"),
        r"method=vbdm.Paper\(form=…\)",
    ),
    "field of the run": (partial(vbdm.DiffusionMap, engine="numba"), r"run=vbdm.Run\(engine=…\)"),
    "exponent": (partial(vbdm.estimate_operator, X, beta=0), r"PowerOfDensity\(beta=…\)"),
    "slip of the pen": (partial(vbdm.estimate_operator, X, epsilonn=1), r"Write epsilon=…"),
    "nothing like it": (partial(vbdm.Run, colour=1), "It knows engine, precision"),
}


@pytest.mark.parametrize("case", UNKNOWN)
def test_unknown_keywords_are_answered_with_known_ones(case):
    call, message = UNKNOWN[case]
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("case", MORE_BAD_CALLS)
def test_rarer_messages(case):
    call, message = MORE_BAD_CALLS[case]
    with pytest.raises(vbdm.InputError, match=message):
        call()


def test_warnings_point_at_the_caller():
    with pytest.warns(vbdm.errors.DensityTailWarning) as caught:
        vbdm.estimate_operator(np.random.default_rng(0).standard_normal((800, 2)))
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "X",
    [
        2.0 ** np.linspace(-500, 500, 100)[:, None],
        np.random.default_rng(4100).standard_normal((100, 2)) * 1e-160,
        np.random.default_rng(4100).standard_normal((100, 2)) * 1e-300,
        np.random.default_rng(4100).standard_normal((100, 30)) * 1e-60,
        np.random.default_rng(4100).standard_normal((100, 30)) * 1e60,
    ],
    ids=["geometric", "1e-160", "1e-300", "30 columns, 1e-60", "30 columns, 1e60"],
)
def test_units_beyond_the_computers_numbers(X):
    with pytest.raises(vbdm.InputError, match="too near to each other, or too far apart"):
        vbdm.estimate_operator(X).spectrum(3)
