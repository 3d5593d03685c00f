"""Whole estimates on the device through the public API, against the processor's engine."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest
from tests.support.estimates import estimate_with

import vbdm
from vbdm.base.arrays import is_elsewhere, to_host
from vbdm.engines.cuda import availability
from vbdm.operator.sums import pairs_of
from vbdm.spectrum.vectors import function_of, vectors_of

from .emulated import ON_GPU, needs_device, some_slow

pytestmark = [
    needs_device,
]
N = 700
#: Few points, but several coarse levels.
LEVELS = vbdm.solvers.Multilevel(4, 100)
RNG = np.random.default_rng(18)


@pytest.fixture(autouse=True)
def _device(device, monkeypatch):
    """Let engine="cuda" find the device of these tests."""
    monkeypatch.setattr("vbdm.engines.engine.SURROUNDINGS", [])
    monkeypatch.setattr(availability, "the_device", lambda: device)


def plane(n=N):
    return np.random.default_rng(0).standard_normal((n, 2))


def space():
    return np.random.default_rng(1).standard_normal((N, 3))


def curve():
    return vbdm.datasets.closed_curve(N, random_state=2).points


def copies():
    return np.concatenate([plane(500), plane(150), plane(40)])


def two_pieces():
    return np.concatenate([plane(500), plane(400) * 0.5 + [30.0, 0.0]])


def torus():
    return np.random.default_rng(3).random((N, 2)) * [2 * np.pi, 1.0]


CASES = {
    "plane": (plane, 1.0, {}),
    "space": (space, 1.0, {}),
    "curve in R^10": (curve, 0.0, {}),
    "copies": (copies, 1.0, {}),
    "two pieces": (two_pieces, 1.0, {}),
    "periodic": (torus, 0.0, {"period": [2 * np.pi, 1.0]}),
    "one column periodic": (torus, 0.0, {"period": [2 * np.pi, None]}),
    "weights": (plane, 1.0, {"weights": np.exp(plane()[:, 0] / 2)}),
    "weights that jump": (plane, 1.0, {"weights": RNG.exponential(size=N)}),
    "potential": (plane, None, {"potential": (plane() ** 2).sum(axis=1) / 2}),
    "fixed kernel": (plane, 1.0, {"beta": 0.0}),
    "given bandwidth": (plane, 1.0, {"bandwidth": lambda X: 1 + (np.asarray(X) ** 2).sum(axis=1)}),
    "effort": (plane, 0.0, {"effort": 2.0}),
    "broad shape": (plane, 1.0, {"shape": "broad"}),
    "double precision": (plane, 1.0, {"precision": "double"}),
    "float32": (lambda: plane().astype(np.float32), 1.0, {}),
    "paper": (plane, 1.0, {"method": "paper"}),
    "paper on a curve": (curve, 0.0, {"method": "paper"}),
    "lists": (plane, 1.0, {"n_neighbors": 80}),
    "no leave-one-out": (plane, 1.0, {"leave_one_out": False}),
}


#: Kernels on lists of neighbours are evaluated in this machine's memory.
ON_LISTS = ("paper", "paper on a curve", "lists")
#: The same lines with other numbers.
SLOW = (
    "one column periodic", "weights that jump", "fixed kernel", "effort", "broad shape",
    "double precision", "float32", "paper on a curve", "no leave-one-out", "space", "plane",
    "curve in R^10", "two pieces", "weights", "given bandwidth", "lists", "paper",
)  # fmt: skip


def both(case, n=5):
    make, c1, options = CASES[case]
    X = make()
    here, there = (estimate_with(X, c1, engine=name, **options) for name in ("scipy", "cuda"))
    # On so few points, the solver that is chosen by itself would take a copy in memory.
    own, found = (op.spectrum(n, solver="multilevel", tol=1e-8) for op in (here, there))
    return X, here, there, own, found


@pytest.mark.parametrize("case", some_slow(CASES, *SLOW))
def test_same_answers_as_the_processor(case):
    _, here, there, own, found = both(case)
    if case in ON_LISTS:
        assert "lists of neighbours" in there.settings.engine_reason
    else:
        assert there.settings.engine.name == "cuda"
    assert there.dim == pytest.approx(here.dim, rel=1e-10)
    assert there.epsilon == pytest.approx(here.epsilon, rel=1e-10)
    assert there.n_neighbors == here.n_neighbors
    np.testing.assert_array_equal(pairs_of(there), pairs_of(here))
    np.testing.assert_allclose(there.density, here.density, rtol=1e-10)
    np.testing.assert_allclose(there.bandwidth, here.bandwidth, rtol=1e-10)
    np.testing.assert_allclose(found.eigenvalues, own.eigenvalues, rtol=1e-6, atol=1e-12)
    np.testing.assert_array_equal(found.components, own.components)
    np.testing.assert_array_equal(found.unresolved, own.unresolved)
    if case not in ("weights that jump", "paper on a curve"):
        np.testing.assert_allclose(found.intervals(), own.intervals(), rtol=1e-5, atol=1e-10)
    for values in (there.density, pairs_of(there), found.eigenfunctions, found.eigenvalues):
        assert isinstance(values, np.ndarray)


def test_lists_of_neighbours_are_for_the_processor(device):
    X = np.random.default_rng(7).standard_normal((400, 10))
    with pytest.warns(
        vbdm.errors.EngineWarning, match="needs lists of neighbours.*run='numba'"
    ) as seen:
        there = vbdm.estimate_operator(X, 1.0, run="cuda")
    assert seen[0].filename == __file__
    assert there.settings.engine_reason.startswith("kernels on lists of neighbours")
    here = vbdm.estimate_operator(X, 1.0, run="scipy")
    assert (there.density == here.density).all()
    for options in ({}, {"method": "paper"}):
        with pytest.raises(
            vbdm.errors.DeviceError, match=r"by lists of neighbours .*output='device'"
        ):
            estimate_with(device.array(X), 1.0, output="device", **options)


@pytest.mark.parametrize("form", some_slow(["left", "right", "two-sided"], "left", "right"))
def test_the_other_forms(form):
    X = plane(500)
    rho = 1 + (X**2).sum(axis=1) / 4
    options = {"bandwidth": (rho, np.sqrt(rho)) if form == "two-sided" else rho}
    here, there = (
        estimate_with(X, 1.0, method="paper", form=form, engine=name, **options).spectrum(4)
        for name in ("scipy", "cuda")
    )
    np.testing.assert_allclose(there.eigenvalues, here.eigenvalues, rtol=1e-6, atol=1e-9)
    f = np.sin(X[:, 0])
    np.testing.assert_allclose(there.operator @ f, here.operator @ f, rtol=1e-6, atol=1e-9)


def test_several_coarse_levels():
    here, there = (
        vbdm.estimate_operator(plane(), 1.0, run=vbdm.Run(engine=name)).spectrum(
            6, solver=LEVELS, tol=1e-8
        )
        for name in ("scipy", "cuda")
    )
    assert is_elsewhere(vectors_of(there))
    np.testing.assert_allclose(there.eigenvalues, here.eigenvalues, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(there.eigenfunctions, here.eigenfunctions, atol=1e-5)
    np.testing.assert_allclose(there.intervals(), here.intervals(), rtol=1e-5, atol=1e-9)


def test_two_runs_have_the_same_bits():
    first, second = (
        vbdm.estimate_operator(plane(700), 1.0, run="cuda").spectrum(4, solver=LEVELS) for _ in "ab"
    )
    for name in ("eigenvalues", "eigenfunctions", "total_errors"):
        assert (getattr(first, name) == getattr(second, name)).all()
    assert (first.operator.density == second.operator.density).all()


@pytest.mark.parametrize("case", some_slow(["copies", "periodic", "paper"], "paper"))
def test_new_points(case):
    X, here, there, own, found = both(case)
    new = np.concatenate([X[:40], X[40:140] + 0.02 * RNG.standard_normal((100, 2)), X[:1] + 40.0])
    mine, other = vbdm.extend(own, new), vbdm.extend(found, new)
    sign = np.sign((mine.values[:40] * other.values[:40]).sum(axis=0))
    np.testing.assert_allclose(other.values * sign, mine.values, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(other.training, mine.training)
    np.testing.assert_array_equal(other.outside, mine.outside)
    np.testing.assert_allclose(other.density, mine.density, rtol=1e-9)
    f = np.sin(X)
    np.testing.assert_allclose(
        there.extend(f, new, outside="nearest"), here.extend(f, new, outside="nearest"), rtol=1e-7
    )


def test_points_from_a_device_and_results_there(device):
    X, here = plane(), vbdm.estimate_operator(plane(), 1.0, run="scipy")
    own = here.spectrum(5)
    op = vbdm.estimate_operator(device.array(X), 1.0, run=vbdm.Run(output="device"))
    assert op.settings.engine_reason == f"the points are there ({device.name})"
    assert device.name in op.settings.engine.words
    spectrum = op.spectrum(5)
    new = X[:20] + 0.01
    f = np.sin(X)
    pairs = [
        (op.density, here.density),
        (op.bandwidth, here.bandwidth),
        (op.apply(device.array(f)), here.apply(f)),
        (op.apply(f), here.apply(f)),
        (op.apply(f, return_std=True)[1], here.apply(f, return_std=True)[1]),
        (op.extend(device.array(f), device.array(new)), here.extend(f, new)),
        (op.density_at(device.array(new)), here.density_at(new)),
        (np.abs(spectrum.eigenfunctions), np.abs(own.eigenfunctions)),
        (np.abs(spectrum.extend(new).values), np.abs(own.extend(new).values)),
    ]
    for found, known in pairs:
        assert is_elsewhere(found)
        np.testing.assert_allclose(to_host(found), known, rtol=1e-4, atol=1e-5)
    # What is small, and what says something about points, is NumPy's.
    for small in (spectrum.eigenvalues, spectrum.intervals(), spectrum.unresolved, pairs_of(op)):
        assert isinstance(small, np.ndarray)
    # Later rooms are none the wiser.
    for verb in (op.gradient, spectrum.dynamics.project):
        np.testing.assert_allclose(verb(device.array(f)), verb(f))
    solution = op.committor(X[:, 0] < -1.5, X[:, 0] > 1.5)
    assert isinstance(solution.values, np.ndarray)
    assert isinstance(function_of(spectrum, 1), np.ndarray)


def test_points_from_a_device_and_results_here(device):
    op = vbdm.estimate_operator(device.array(plane()), 1.0)
    assert op.settings.engine.name == "cuda"
    assert isinstance(op.density, np.ndarray)
    assert isinstance(op @ device.array(plane()), np.ndarray)
    assert isinstance(op.spectrum(3).eigenfunctions, np.ndarray)
    series = vbdm.estimate_operator([device.array(plane()[:400]), device.array(plane()[400:])], 1.0)
    assert series.settings.series.lengths == (400, N - 400)
    np.testing.assert_allclose(series.density, op.density, rtol=1e-12)


@pytest.mark.skipif(not ON_GPU, reason="there is no GPU")
def test_arrays_of_other_libraries_are_shared(device):
    class Other:
        """What torch shows of its arrays."""

        def __init__(self, array):
            self.array, self.shape = array, array.shape

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    op = vbdm.estimate_operator(Other(device.array(plane())), 1.0, run=vbdm.Run(output="device"))
    same = vbdm.estimate_operator(plane(), 1.0, run="cuda")
    assert (op.density.get() == same.density).all()
    assert is_elsewhere(op.extend(Other(op.density), Other(device.array(plane()[:5] + 0.01))))
    torch = pytest.importorskip("torch")
    assert torch.from_dlpack(op.density).shape == (N,)
    assert is_elsewhere(
        vbdm.estimate_operator(torch.tensor(plane()).cuda(), run=vbdm.Run(output="device")).density
    )


def test_the_estimator(device):
    X, new = plane(400), plane()[:50] + 0.01
    here = vbdm.DiffusionMap("generator", run="scipy").fit(X)
    there = vbdm.DiffusionMap("generator", run="cuda").fit(X)
    for look in (lambda m: m.embedding_, lambda m: m.transform(new), lambda m: m.density(new)):
        assert isinstance(look(there), np.ndarray)
        np.testing.assert_allclose(np.abs(look(there)), np.abs(look(here)), rtol=1e-4, atol=1e-5)
    on = vbdm.DiffusionMap("generator", diffusion_time=0.3, run=vbdm.Run(output="device")).fit(
        device.array(X)
    )
    timed = vbdm.DiffusionMap("generator", diffusion_time=0.3).fit(X)
    assert on.n_features_in_ == 2
    for look in (lambda m: m.embedding_, lambda m: m.transform(device.array(new))):
        assert is_elsewhere(look(on))
    found, known = to_host(on.embedding_), timed.embedding_
    np.testing.assert_allclose(np.abs(found), np.abs(known), rtol=1e-4, atol=1e-5)
    reduced = vbdm.DiffusionMap("generator", pca=1).fit(device.array(X))
    assert reduced.operator_.settings.engine.name == "cuda"
    assert reduced.transform(device.array(new)).shape == (50, 2)
    with pytest.raises(vbdm.InputError, match="columns"):
        on.transform(device.array(new[:, :1]))


def test_saved_and_pickled_results_need_no_device(tmp_path):
    spectrum = vbdm.estimate_operator(
        plane(), 1.0, run=vbdm.Run(engine="cuda", output="device")
    ).spectrum(4)
    spectrum.save(tmp_path / "model.vbdm")
    for again in (vbdm.load(tmp_path / "model.vbdm"), pickle.loads(pickle.dumps(spectrum))):
        assert isinstance(again.eigenfunctions, np.ndarray)
        assert isinstance(again.operator.density, np.ndarray)
        assert (again.eigenvalues == spectrum.eigenvalues).all()
        assert isinstance(again.extend(plane()[:3] + 0.01).values, np.ndarray)


def test_pickled_models_need_no_device():
    model = vbdm.DiffusionMap("generator", 3, run=vbdm.Run(engine="cuda", output="device")).fit(
        plane(400)
    )
    assert is_elsewhere(model.embedding_)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.get_params() == model.get_params()
        assert again.n_features_in_ == 2
        assert again.eigenfunctions_ is again.spectrum_.eigenfunctions
        for found, known in (
            (again.embedding_, model.embedding_),
            (again.density_, model.density_),
            (again.transform(plane()[:3] + 0.01), model.transform(plane()[:3] + 0.01)),
        ):
            assert isinstance(found, np.ndarray)
            np.testing.assert_allclose(found, to_host(known), rtol=1e-6, atol=1e-9)
    assert is_elsewhere(model.eigenfunctions_)


@pytest.mark.slow
def test_the_command(device, tmp_path):
    pytest.importorskip("click")
    from tests.support.commands import vbdm_command

    np.save(tmp_path / "points.npy", plane(800))
    options = [
        "fit",
        str(tmp_path / "points.npy"),
        "--engine",
        "cuda",
        "-O",
        "generator",
        "-n",
        "4",
    ]
    done = vbdm_command(*options, "-o", tmp_path / "out", "--no-figures", "--no-report")
    assert done.exit_code == 0, done.output
    settings = json.loads((tmp_path / "out" / "results.json").read_text())["decided"]
    assert settings["engine"] == "cuda"
    assert settings["engine_reason"] == f"chosen by the user ({device.name})"


def test_memory_that_runs_out_in_the_solver_is_told_and_the_device_goes_on(device, monkeypatch):
    kind = type("OutOfMemoryError", (MemoryError,), {"__module__": "cupy.cuda.memory"})
    op = vbdm.estimate_operator(plane(500), 1.0, run="cuda")
    engine = type(op.graph.point_set.engine)

    def fails(*args, **kwargs):
        raise kind("Out of memory allocating 4,000,000,000 bytes (allocated so far: 1 bytes).")

    with monkeypatch.context() as inside:
        inside.setattr(engine, "jacobi", fails)
        inside.setattr(engine, "multiply", fails)
        with pytest.raises(
            vbdm.errors.OutOfMemoryError, match=r"ran out; received a request for 4 GB"
        ):
            op.spectrum(4)
    assert len(op.spectrum(4).eigenvalues) == 4
