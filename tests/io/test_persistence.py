"""Saved results: equal bit by bit, one safe file, and a clear word for every file that is none."""

import errno
import json
import os
import pickle
import subprocess
import sys
import zipfile
from operator import attrgetter

import numpy as np
import pytest
from tests.support.archives import as_array, as_bytes, edit_header, rewrite
from tests.support.estimates import estimate_with
from tests.support.slow import with_slow
from tests.support.stand_ins import fake_pynndescent

import vbdm
from vbdm.io.saved.archive import FORMAT, HEADER, VERSION, complaining
from vbdm.operator.normalise import with_epsilon

#: One of the arrays in a file.
ARRAY = "pilot/density.npy"
RNG = np.random.default_rng(0)
CLOUD = RNG.standard_normal((500, 2))
TURN = RNG.uniform(0, 2 * np.pi, (400, 1))
LINE = vbdm.datasets.ou(12_000, dim=1, random_state=0).points
CURVE = np.c_[np.cos(TURN), np.sin(TURN), 0.01 * RNG.standard_normal((400, 60))]


def estimate(X, operator="generator", n=4, **settings):
    return estimate_with(X, operator, **settings).spectrum(n)


def flow(potential, **settings):
    """Return the spectrum of a known potential, which names the operator by itself."""
    return estimate_with(CLOUD, potential=potential, **settings).spectrum(4)


CASES = {
    "plain": lambda: estimate(CLOUD),
    "double": lambda: estimate(CLOUD, precision="double"),
    "lists": lambda: estimate(CLOUD, n_neighbors=60),
    "copies": lambda: estimate(np.vstack([CLOUD, CLOUD[:150]])),
    "paper": lambda: estimate(CLOUD, method="paper"),
    "dense": lambda: estimate(CLOUD[:100], n_neighbors=100),
    "broad": lambda: estimate(CLOUD, shape="broad"),
    "compact": lambda: estimate(CLOUD, shape="compact"),
    "two columns of 0": lambda: estimate(np.c_[CLOUD, np.zeros((500, 2))]),
    "ten columns of 0": lambda: estimate(np.c_[CLOUD, np.zeros((500, 10))]),
    "no limiter": lambda: estimate(CLOUD, limiter=False, truncation=None),
    "epsilon given": lambda: estimate(CLOUD, epsilon=0.01),
    "two pieces": lambda: estimate(np.vstack([CLOUD, CLOUD + 50])),
    "graph given": lambda: estimate(vbdm.neighbors(CLOUD, 80)),
    "table released": lambda: estimate(LINE),
    "lists released": lambda: estimate(LINE, n_neighbors=64),
    "60 columns": lambda: estimate(CURVE, "laplacian"),
    "30 columns": lambda: estimate(CURVE[:, :30], "laplacian"),
    "periodic columns": lambda: estimate(TURN, "laplacian", period=2 * np.pi),
    "12 columns": lambda: estimate(RNG.standard_normal((300, 12))),
    "projected": lambda: estimate(vbdm.neighbors(CURVE, 60, search="projected"), "laplacian"),
    "brute force": lambda: estimate(vbdm.neighbors(CLOUD, 80, search=vbdm.search.BruteForce())),
    "periodic": lambda: estimate(vbdm.neighbors(TURN, 80, period=2 * np.pi), "laplacian"),
    "metric": lambda: estimate(vbdm.neighbors(CLOUD, 80, metric="manhattan")),
}


@pytest.fixture(scope="module")
def spectrum():
    return CASES["plain"]()


@pytest.fixture
def saved(spectrum, tmp_path):
    path = tmp_path / "model.vbdm"
    vbdm.save(spectrum, path)
    return path


def fresh_points(spectrum):
    """Training points, new ones, and one far away."""
    X = spectrum.operator.graph.points
    return np.vstack([X[:40], X[:40] + 0.01 * X[40:80], 1e3 + X[:1]])


def assert_same(one, two):
    """Everything that can be asked of two spectra is equal, bit by bit; so is what was decided."""
    assert one.settings.as_dict() == two.settings.as_dict()
    assert one.settings.search == two.settings.search
    assert one.settings.engine == two.settings.engine
    assert one.operator.dimension.credit == two.operator.dimension.credit
    for name in ("solvers", "reason", "passes", "iterations", "products", "error_estimate"):
        assert getattr(one.log, name) == getattr(two.log, name), name
    equal = np.testing.assert_array_equal
    for name in ("eigenvalues", "eigenfunctions", "residuals", "components", "unresolved",
                 "standard_errors", "errors.bias", "errors.weak_links", "left_out",
                 "extent"):  # fmt: skip
        equal(attrgetter(name)(one), attrgetter(name)(two), err_msg=name)
    f = np.sin(np.arange(one.operator.n_points))
    equal(one.operator @ f, two.operator @ f)
    for name in ("data", "indices", "indptr"):
        equal(getattr(one.operator.kernel.weights.listed, name),
              getattr(two.operator.kernel.weights.listed, name), err_msg=name)  # fmt: skip
    for name in ("by_reach", "precision", "cutoff"):
        assert getattr(one.operator.kernel, name) == getattr(two.operator.kernel, name), name
    equal(one.operator.density, two.operator.density)
    for name in ("epsilons", "sums", "slopes"):
        equal(getattr(one.operator.tuning, name), getattr(two.operator.tuning, name))
    X = fresh_points(one)
    equal(one.operator.density_at(X), two.operator.density_at(X))
    equal(one.operator.extend(f, X), two.operator.extend(f, X))
    for name in ("values", "outside", "undefined", "density", "training"):
        equal(getattr(one.extend(X), name), getattr(two.extend(X), name), err_msg=name)
    assert repr(one) == repr(two)
    assert repr(one.operator) == repr(two.operator)
    assert repr(one.operator.graph) == repr(two.operator.graph)


@pytest.mark.parametrize("kernel", with_slow([True, False], False))
@pytest.mark.parametrize("name", with_slow(CASES, "lists released", "table released"))
def test_loaded_is_equal_bit_by_bit(name, kernel, tmp_path):
    spectrum = CASES[name]()
    spectrum.save(tmp_path / "model", kernel=kernel)
    assert_same(spectrum, vbdm.load(tmp_path / "model"))


def test_an_approximate_search_is_built_again(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", fake_pynndescent(miss=0))
    search = vbdm.search.PyNNDescent(random_state=7)
    spectrum = estimate(vbdm.neighbors(CLOUD[:100], 40, search=search), "laplacian")
    spectrum.save(tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    assert_same(spectrum, loaded)
    engines = [own.operator.graph.point_set.index.engine for own in (spectrum, loaded)]
    assert engines[0].random_state == engines[1].random_state == 7
    assert engines[0].n_neighbors == engines[1].n_neighbors


def test_saved_and_saved_again_is_the_same_file(spectrum, saved, tmp_path):
    vbdm.save(vbdm.load(saved), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_another_process_transforms_identically(spectrum, saved, tmp_path):
    X = fresh_points(spectrum)
    np.save(tmp_path / "X.npy", X)
    code = (
        "import sys, warnings, numpy as np, vbdm; warnings.simplefilter('ignore');"
        "s = vbdm.load(sys.argv[1]); x = np.load(sys.argv[2]);"
        "np.save(sys.argv[3], s.extend(x).values)"
    )
    names = [saved, tmp_path / "X.npy", tmp_path / "Y.npy"]
    subprocess.run([sys.executable, "-c", code, *map(str, names)], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "Y.npy"), spectrum.extend(X).values)


def test_unsymmetric_and_precomputed_results_are_saved_too(tmp_path):
    left = estimate(CLOUD[:150], method="paper", form="left")
    graph = vbdm.neighbors(CLOUD, 60)
    known = vbdm.NeighborGraph.from_arrays(graph.indices, graph.sqdist)
    for spectrum in (left, estimate(known)):
        spectrum.save(tmp_path / "model")
        loaded = vbdm.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.eigenfunctions, spectrum.eigenfunctions)
        np.testing.assert_array_equal(loaded.operator.density, spectrum.operator.density)


def test_operators_and_graphs_can_be_saved_alone(spectrum, tmp_path):
    f = np.cos(np.arange(500))
    vbdm.save(spectrum.operator, tmp_path / "op", kernel=False)
    np.testing.assert_array_equal(vbdm.load(tmp_path / "op") @ f, spectrum.operator @ f)
    graph = vbdm.neighbors(CLOUD, 20)
    vbdm.save(graph, tmp_path / "graph")
    loaded = vbdm.load(tmp_path / "graph")
    np.testing.assert_array_equal(loaded.indices, graph.indices)
    np.testing.assert_array_equal(loaded.with_neighbors(30).sqdist, graph.with_neighbors(30).sqdist)


def test_an_estimator_comes_back_as_one(tmp_path):
    model = vbdm.DiffusionMap("generator", n_components=2).fit(CLOUD)
    vbdm.save(model, tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    assert isinstance(loaded, vbdm.DiffusionMap)
    np.testing.assert_array_equal(loaded.transform(CLOUD + 0.01), model.transform(CLOUD + 0.01))


def test_the_file_holds_plain_little_endian_arrays_and_json(saved):
    with zipfile.ZipFile(saved) as archive:
        head = json.loads(archive.read(HEADER))
        assert (head["format"], head["version"]) == (FORMAT, VERSION)
        assert head["vbdm"] == vbdm.__version__
        assert all(info.compress_type == zipfile.ZIP_STORED for info in archive.infolist())
        for name in set(archive.namelist()) - {HEADER}:
            first = archive.read(name)[:200]
            assert b"'<" in first or b"'|" in first, first
    with np.load(saved, allow_pickle=False) as arrays:
        assert {arrays[name].dtype.kind for name in arrays.files if name != HEADER} <= set("biuf")


def test_size_without_the_kernel(spectrum, tmp_path):
    big = CASES["table released"]()
    vbdm.save(big, tmp_path / "with")
    vbdm.save(big, tmp_path / "without", kernel=False)
    n_pairs = big.operator.alpha_kernel.listed.nnz
    saved = os.path.getsize(tmp_path / "with") - os.path.getsize(tmp_path / "without")
    # A number in single precision and a column for each pair, and one pointer per point.
    assert 8 * n_pairs <= saved < 8 * n_pairs + 5 * big.operator.n_points
    # What is left: some twenty numbers per point.
    assert os.path.getsize(tmp_path / "without") < 22 * 8 * big.operator.n_points


def test_results_are_read_only(saved):
    with pytest.raises(ValueError, match="read-only"):
        vbdm.load(saved).eigenvalues[0] = 1


# --- What cannot be saved ------------------------------------------------------------------------


class Engine:
    """A search engine of the user's own."""

    def index(self, cloud, k):
        self.inner = vbdm.search.KDTree().index(cloud, k)
        return self

    rows_per_call, parallel = 1024, False

    def query(self, points, k):
        return self.inner.query(points, k)


def city(x, y):
    return np.abs(x - y).sum()


REFUSED = {
    "shape": lambda: estimate(CLOUD, shape=lambda s: np.exp(-s / 4)),
    "bandwidth": lambda: estimate(CLOUD, bandwidth=lambda X: 1 + 0.1 * X[:, 0] ** 2),
    "potential": lambda: flow(lambda X: (X**2).sum(axis=1) / 2, method="paper"),
    "metric": lambda: estimate(vbdm.neighbors(CLOUD[:150], 40, metric=city)),
    "search": lambda: estimate(vbdm.neighbors(CLOUD, 60, search=Engine())),
}


@pytest.mark.parametrize("name", REFUSED)
def test_functions_are_refused_by_name_and_leave_no_file(name, tmp_path):
    with pytest.raises(vbdm.InputError, match=f"`{name}` cannot be saved") as caught:
        vbdm.save(REFUSED[name](), tmp_path / "model")
    assert "no code" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_arrays_instead_of_functions_are_saved(tmp_path):
    spectrum = flow((CLOUD**2).sum(axis=1) / 2, method="paper")
    spectrum.save(tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.eigenfunctions, spectrum.eigenfunctions)
    with pytest.raises(vbdm.InputError, match="not known at new points"):
        loaded.extend(CLOUD[:2] + 0.01)


def test_a_potential_that_weights_pairs_is_saved_as_numbers(tmp_path):
    """A function is needed at the data only: its values do at other ε and at new points."""
    spectrum = flow(lambda X: (X**2).sum(axis=1) / 2)
    spectrum.save(tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    new = CLOUD[:5] + 0.01
    np.testing.assert_array_equal(loaded.extend(new).values, spectrum.extend(new).values)
    wider, same = (with_epsilon(part.operator, 0.2) for part in (spectrum, loaded))
    assert abs(wider.matrix - same.matrix).max() == 0
    assert repr(loaded.operator) == repr(spectrum.operator)


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("way", ["none", "measure", "counts"])
def test_a_loaded_model_answers_alike(tmp_path, way, kernel):
    """Committor, rates with their errors, times, states: everything that is asked later."""
    named = {} if way == "none" else {"weights": np.exp(CLOUD[:, 0] / 2), "weights_as": way}
    spectrum = estimate(CLOUD, **named)
    spectrum.save(tmp_path / "model", kernel=kernel)
    loaded = vbdm.load(tmp_path / "model")
    first, second = (one.operator.committor("x0 < -1", "x0 > 1") for one in (spectrum, loaded))
    np.testing.assert_array_equal(first.values, second.values)
    assert (first.flux, first.rate, first.rate_back) == (second.flux, second.rate, second.rate_back)
    assert 0 < first.rate.error < first.rate.value
    times = [one.operator.mean_first_passage("x0 > 1").mean("x0 < 0") for one in (spectrum, loaded)]
    assert times[0] == times[1]
    one, two = spectrum.states(2), loaded.states(2)
    np.testing.assert_array_equal(one.memberships, two.memberships)
    np.testing.assert_array_equal(one.rates, two.rates)
    np.testing.assert_array_equal(one.rate_errors, two.rate_errors)
    assert one.populations == two.populations


@pytest.mark.parametrize("way", ["measure", "counts"])
def test_weights_are_saved(tmp_path, way):
    weights = np.exp(-(CLOUD**2).sum(axis=1))
    made = vbdm.estimate_operator(
        CLOUD, "generator", weights=weights, method=vbdm.Resolved(weights_as=way)
    )
    spectrum = made.spectrum(4)
    spectrum.save(tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    new = CLOUD[:5] + 0.01
    np.testing.assert_array_equal(loaded.extend(new).values, spectrum.extend(new).values)
    np.testing.assert_array_equal(loaded.operator.equations.measure, made.equations.measure)
    wider, same = (with_epsilon(part.operator, 0.2) for part in (spectrum, loaded))
    assert abs(wider.matrix - same.matrix).max() == 0
    assert repr(loaded.operator) == repr(made)
    assert loaded.settings.weighting == made.settings.weighting


@pytest.mark.parametrize("item", [None, "model", CLOUD, object()])
def test_other_things_are_refused(item, tmp_path):
    with pytest.raises(vbdm.InputError, match="cannot be saved"):
        vbdm.save(item, tmp_path / "model")


def test_settings_must_be_plain(spectrum, tmp_path):
    with pytest.raises(vbdm.InputError, match="`solver` cannot be saved"):
        vbdm.save(spectrum, tmp_path / "model", {"solver": object()})


def test_bad_targets(spectrum, tmp_path):
    for path in (tmp_path, tmp_path / "missing" / "model"):
        with pytest.raises(vbdm.InputError, match="folder"):
            vbdm.save(spectrum, path)


# --- A crash never destroys the last good file ---------------------------------------------------


@pytest.mark.parametrize("broken", ["os.fsync", "os.replace", "numpy.lib.format.write_array"])
def test_a_full_disk_leaves_the_old_file(broken, spectrum, saved, monkeypatch):
    before = saved.read_bytes()

    def fail(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(broken, fail)
    with pytest.raises(OSError, match="No space"):
        vbdm.save(spectrum, saved)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_a_killed_process_leaves_the_old_file(saved):
    before = saved.read_bytes()
    code = (
        "import os, sys, vbdm; os.replace = lambda *names: os._exit(9);"
        "vbdm.save(vbdm.load(sys.argv[1]), sys.argv[1])"
    )
    assert subprocess.run([sys.executable, "-c", code, str(saved)], check=False).returncode == 9
    assert saved.read_bytes() == before
    vbdm.load(saved)


@pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")
def test_links_are_followed_and_modes_are_usual(spectrum, saved, tmp_path):
    link = tmp_path / "latest"
    link.symlink_to(saved)
    vbdm.save(spectrum.operator, link)
    assert link.is_symlink()
    assert isinstance(vbdm.load(saved), vbdm.Operator)
    (tmp_path / "plain").write_text("")
    assert saved.stat().st_mode == (tmp_path / "plain").stat().st_mode


# --- Files that are none -------------------------------------------------------------------------


class Attack:
    """What a pickle in disguise would run."""

    def __reduce__(self):
        return os.mkdir, ("attacked",)


def object_array(path):
    path.unlink()
    np.savez(path.with_suffix(".npz"), np.array([Attack()], dtype=object))
    os.replace(path.with_suffix(".npz"), path)


def foreign_arrays(path):
    np.savez(path.with_suffix(".npz"), points=CLOUD)
    os.replace(path.with_suffix(".npz"), path)


def object_member(path):
    np.save(path.with_suffix(".npy"), np.array([Attack()], dtype=object), allow_pickle=True)
    content = path.with_suffix(".npy").read_bytes()
    rewrite(path, lambda members: {**members, ARRAY: content})


def flipped(path):
    """Flip a bit in the middle: inside the numbers of an array, where only the sum can tell."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGE = {
    "empty": (lambda path: path.write_bytes(b""), "empty"),
    "text": (lambda path: path.write_text("eigenvalues: 0, -1"), "another kind"),
    "pickle": (lambda path: path.write_bytes(pickle.dumps(Attack())), "another kind"),
    "array": (lambda path: np.save(path.open("wb"), CLOUD), "another kind"),
    "arrays of others": (foreign_arrays, "another kind"),
    "arrays with a pickle": (object_array, "another kind"),
    "member with a pickle": (object_member, "damaged"),
    "another archive": (lambda path: rewrite(path, lambda _: {"a": "b"}), "another kind"),
    "header of others": (lambda path: edit_header(path, format="zarr"), "another kind"),
    "header that is a list": (lambda path: rewrite(path, lambda m: {**m, HEADER: "[]"}), "kind"),
    "header cut": (lambda path: rewrite(path, lambda m: {**m, HEADER: m[HEADER][:99]}), "damaged"),
    "another version": (lambda path: edit_header(path, version=VERSION + 1), "another format"),
    "another class": (lambda path: edit_header(path, index={"kind": "os.system"}), "damaged"),
    "another kind of result": (lambda path: edit_header(path, kind="os.system"), "damaged"),
    "nothing inside": (lambda path: edit_header(path, kind=None), "damaged"),
    "array missing": (
        lambda path: rewrite(path, lambda m: {k: v for k, v in m.items() if k != ARRAY}),
        "damaged",
    ),
    "array too long": (
        lambda path: rewrite(path, lambda m: {**m, ARRAY: m[ARRAY] + b"more"}),
        "damaged",
    ),
    "array too short": (
        lambda path: rewrite(path, lambda m: {**m, ARRAY: m[ARRAY][:-8]}),
        "damaged",
    ),
    "one bit": (flipped, "damaged"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_files_that_are_none(name, saved, monkeypatch):
    monkeypatch.chdir(saved.parent)
    damage, words = DAMAGE[name]
    damage(saved)
    with pytest.raises(vbdm.InputError, match=words):
        vbdm.load(saved)
    assert not (saved.parent / "attacked").exists()


def test_a_disk_that_fails_is_no_damage(saved):
    with pytest.raises(OSError, match="Input/output"), complaining(saved):
        raise OSError(errno.EIO, "Input/output error")
    with pytest.raises(vbdm.InputError, match="damaged"), complaining(saved):
        raise OSError(errno.EINVAL, "Invalid argument")


@pytest.mark.parametrize("share", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_files_cut_off(share, saved):
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    with pytest.raises(vbdm.InputError, match="not a result saved by vbdm"):
        vbdm.load(saved)


def test_no_file_and_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        vbdm.load(tmp_path / "nothing")
    with pytest.raises(vbdm.InputError, match="folder"):
        vbdm.load(tmp_path)


def test_any_byte_may_be_wrong(tmp_path):
    """A wrong byte anywhere gives an `InputError`, or does not matter (dates, modes)."""
    spectrum = estimate(CLOUD[:30], n=3)
    path = tmp_path / "model"
    spectrum.save(path)
    content = path.read_bytes()
    rng = np.random.default_rng(1)
    # Half of them in the table of contents, at the end.
    places = np.r_[rng.integers(0, len(content), 150), len(content) - rng.integers(1, 3000, 150)]
    refused = 0
    for place in places:
        wrong = bytearray(content)
        wrong[place] ^= 1 << rng.integers(8)
        path.write_bytes(wrong)
        try:
            loaded = vbdm.load(path)
        except vbdm.InputError:
            refused += 1
        else:
            np.testing.assert_array_equal(loaded.eigenfunctions, spectrum.eigenfunctions)
    assert refused > len(places) / 3


def test_foreign_byte_order_is_understood(spectrum, saved):
    """Arrays in the other byte order are still numbers."""

    def swap(members):
        for name in [name for name in members if name != HEADER]:
            array = as_array(members[name])
            members[name] = as_bytes(array.astype(array.dtype.newbyteorder(">")))
        return members

    rewrite(saved, swap)
    assert_same(spectrum, vbdm.load(saved))
