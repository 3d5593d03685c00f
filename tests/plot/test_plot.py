"""Pictures: drawn on the axes given or on new ones, labelled in words, without warnings."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

import vbdm
from vbdm import plot
from vbdm.base.estimate import Estimate
from vbdm.dynamics.states import States
from vbdm.plot._arrows import linear_map
from vbdm.plot._canvas import CYCLE, MOST_POINTS, place
from vbdm.plot._dynamics import states_on_points

mpl.use("Agg")
import matplotlib.pyplot as plt

pytestmark = [
    pytest.mark.filterwarnings("error"),
    # After "error", which would take the doubts that all tests ignore for errors.
    pytest.mark.filterwarnings("ignore::vbdm.VbdmWarning"),
]
RNG = np.random.default_rng(0)
TURN = RNG.uniform(0, 2 * np.pi, 500)
LINE = RNG.standard_normal((400, 1))
PLANE = RNG.standard_normal((400, 2))
SPACE = vbdm.datasets.sphere(400, random_state=0).points
CURVE = np.c_[np.cos(TURN), np.sin(TURN), np.cos(2 * TURN)] @ RNG.standard_normal((3, 10))
CLOUDS = {
    "line": LINE,
    "plane": PLANE,
    "space": SPACE,
    "ten columns": CURVE,
    "two pieces": np.vstack([PLANE, PLANE + 60, [[200.0, 0.0]]]),
    "copies": np.vstack([PLANE, PLANE[:50]]),
}
FUNCTIONS = {
    "tuning": plot.tuning,
    "spectrum": plot.spectrum,
    "eigenfunctions": plot.eigenfunctions,
    "embedding": plot.embedding,
    "density": plot.density,
    "unresolved": plot.unresolved,
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def spectra():
    return {name: vbdm.estimate_operator(X, "generator").spectrum(5) for name, X in CLOUDS.items()}


def render(figure):
    """Draw for good: many mistakes show only then."""
    figure.canvas.draw()
    return figure


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("cloud", ["line", "plane", "space"])
def test_each_draws_on_new_axes(name, cloud, spectra):
    ax = FUNCTIONS[name](spectra[cloud])
    assert ax.get_title()
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    render(ax.figure)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("cloud", ["line", "space"])
def test_each_draws_on_given_axes_and_makes_no_figure(name, cloud, spectra):
    """In a figure that pyplot does not know: nothing global may change."""
    figure = mpl.figure.Figure()
    ax = figure.add_subplot()
    assert FUNCTIONS[name](spectra[cloud], ax=ax) is ax
    assert plt.get_fignums() == []
    render(figure)


@pytest.mark.parametrize("cloud", CLOUDS)
def test_summary(cloud, spectra):
    before = dict(mpl.rcParams)
    figure = render(spectra[cloud].plot())
    titles = [ax.get_title() for ax in figure.axes]
    assert any("Spectrum" in title for title in titles)
    assert any("unresolved" in title for title in titles)
    assert f"{spectra[cloud].operator.n_points:,} points" in figure.get_suptitle()
    assert dict(mpl.rcParams) == before


def test_operator_alone_has_a_summary(spectra):
    figure = render(spectra["plane"].operator.plot())
    titles = [ax.get_title().split(" =")[0] for ax in figure.axes]
    assert [title for title in titles if title] == ["ε", "Sampling density"]


def test_estimators_are_understood():
    model = vbdm.DiffusionMap("generator", n_components=2).fit(PLANE)
    for draw in FUNCTIONS.values():
        draw(model)
    render(plot.summary(model))


def test_tuning_marks_the_choice(spectra):
    ax = plot.tuning(spectra["plane"])
    epsilon = spectra["plane"].operator.epsilon
    assert ax.get_xscale() == "log"
    assert any(np.allclose(line.get_xdata(), epsilon) for line in ax.lines)
    assert f"{epsilon:.3g}" in ax.get_title()
    assert "degree" in ax.get_ylabel()
    assert any("dimension" in other.get_ylabel() for other in ax.figure.axes)


def test_tuning_of_the_paper_and_of_no_curve():
    choice = vbdm.rules.tune(vbdm.neighbors(PLANE))
    assert "S(ε)" in plot.tuning(choice).get_ylabel()
    given = vbdm.estimate_operator(PLANE, "generator", method="paper", epsilon=0.1)
    with pytest.raises(vbdm.InputError, match="no curve"):
        plot.tuning(given)
    render(plot.summary(given.spectrum(3)))


def test_spectrum_shows_truth(spectra):
    ax = plot.spectrum(spectra["plane"], truth=[0, -1, -1])
    (truth,) = [line for line in ax.lines if line.get_label() == "truth"]
    np.testing.assert_array_equal(truth.get_ydata(), [0, -1, -1])
    bare = plot.spectrum(spectra["plane"], errors=False)
    assert not bare.collections
    assert words_in(bare) == {"estimate"}


def test_spectrum_shows_intervals_with_sampling_alone_inside(spectra):
    ax, found = plot.spectrum(spectra["line"]), spectra["line"].errors.by_group[1:]
    assert not any(group.is_several for group in found)
    assert {"95 % interval", "sampling alone"} <= words_in(ax)
    outer, inner = ax.collections
    np.testing.assert_allclose(heights(outer), [(g.lower, g.upper) for g in found])
    half = 1.959964 * np.array([[g.standard_error] for g in found])
    middle = np.array([[g.mean] for g in found])
    np.testing.assert_allclose(heights(inner), middle + half * [-1, 1], rtol=1e-6)


def test_groups_have_bands_in_place_of_bars(spectra):
    ax, found = plot.spectrum(spectra["plane"]), spectra["plane"].errors.by_group[1:]
    assert all(group.is_several for group in found)
    assert {"95 % interval of a group's mean", "sampling alone"} <= words_in(ax)
    assert len(ax.collections) == 2 * len(found)
    for group, wide, narrow in zip(found, ax.collections[::2], ax.collections[1::2], strict=True):
        np.testing.assert_allclose(heights(wide), [(group.lower, group.upper)])
        half = 1.959964 * group.standard_error
        np.testing.assert_allclose(heights(narrow), [(group.mean - half, group.mean + half)])


def words_in(ax):
    """Return the words of the legend."""
    return {text.get_text() for text in ax.get_legend().get_texts()}


def heights(collection):
    """Return the lowest and the highest place of each path of a collection, (m, 2)."""
    return [(p.vertices[:, 1].min(), p.vertices[:, 1].max()) for p in collection.get_paths()]


def test_spectrum_takes_a_truth_object(spectra):
    truth = vbdm.datasets.ou(10, dim=2, random_state=0).truth(5, "generator")
    ax = plot.spectrum(spectra["plane"], truth)
    (line,) = [line for line in ax.lines if line.get_label() == "truth"]
    np.testing.assert_allclose(line.get_ydata(), truth.eigenvalues)


def test_eigenfunctions_on_the_line_are_drawn_against_the_coordinate(spectra):
    ax = plot.eigenfunctions(spectra["line"], [1, 2])
    np.testing.assert_array_equal(ax.lines[1].get_xdata(), LINE[:, 0])
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), spectra["line"].eigenfunctions[:, 2])


def test_bands_on_the_line_are_two_standard_deviations_wide(spectra):
    found = spectra["line"]
    ax = plot.eigenfunctions(found, 1)
    edges = ax.collections[0].get_paths()[0].vertices
    order, values, wide = (
        np.argsort(LINE[:, 0]),
        found.eigenfunctions[:, 1],
        2 * found.errors.pointwise(1),
    )
    for edge in (values - wide, values + wide):
        np.testing.assert_allclose(np.isin(np.c_[LINE[:, 0], edge][order], edges).mean(), 1)
    percent = f"error {100 * found.errors.functions[1]:.0f} %"
    assert found.errors.functions[1] > 0.1
    assert percent in ax.get_legend().get_texts()[0].get_text()


def test_modes_that_are_not_isolated_have_no_band_and_no_error(spectra):
    assert np.isnan(spectra["space"].errors.functions[1])
    assert "error" not in plot.eigenfunctions(spectra["space"], 1).get_title()


def test_eigenfunctions_are_coloured_about_zero(spectra):
    ax = plot.eigenfunctions(spectra["plane"], 2)
    low, high = ax.collections[0].get_clim()
    assert low == -high < 0
    np.testing.assert_array_equal(
        ax.collections[0].get_array(), spectra["plane"].eigenfunctions[:, 2]
    )
    assert f"{spectra['plane'].eigenvalues[2]:.3g}" in ax.get_title()


def test_several_eigenfunctions_have_axes_of_their_own(spectra):
    axes = plot.eigenfunctions(spectra["space"], [1, 2, 3])
    assert [ax.name for ax in axes] == ["3d"] * 3
    with pytest.raises(vbdm.InputError, match="one axes for each"):
        plot.eigenfunctions(spectra["plane"], [1, 2], ax=plt.figure().add_subplot())
    with pytest.raises(vbdm.InputError, match="`which`"):
        plot.eigenfunctions(spectra["plane"], 5)


def test_many_columns_are_shown_along_principal_axes_and_say_so(spectra):
    ax = plot.eigenfunctions(spectra["ten columns"])
    assert "of 10 principal axes" in ax.get_title()
    assert ax.get_xlabel() == "principal axis 1"
    given = plot.eigenfunctions(spectra["ten columns"], points=CURVE[:, :2])
    assert given.get_xlabel() == "coordinate 1"


def test_large_clouds_are_thinned_the_same_way_every_time():
    op = vbdm.estimate_operator(vbdm.datasets.ou(21_000, dim=2, random_state=0).points, "generator")
    one, two = place(op, None), place(op, None)
    assert len(one.rows) == MOST_POINTS
    np.testing.assert_array_equal(one.rows, two.rows)
    ax = plot.density(op)
    assert "20,000 of 21,000 points drawn" in ax.get_title()
    np.testing.assert_array_equal(ax.collections[0].get_array(), op.density[one.rows])
    spectrum = op.spectrum(3)
    crosses = plot.unresolved(spectrum).collections[1]
    assert len(crosses.get_offsets()) == spectrum.unresolved.sum()


def test_embedding(spectra):
    spectrum = spectra["plane"]
    ax = plot.embedding(spectrum, (1, 3), time=0.5, color=PLANE[:, 0])
    scale = np.exp(0.5 * spectrum.eigenvalues[[1, 3]])
    expected = spectrum.eigenfunctions[:, [1, 3]] * scale
    np.testing.assert_allclose(ax.collections[0].get_offsets(), expected)
    assert plot.embedding(spectrum, (1, 2, 3)).name == "3d"
    with pytest.raises(vbdm.InputError, match="two or three"):
        plot.embedding(spectrum, (1, 9))
    pieces = plot.embedding(spectra["two pieces"]).get_legend().get_texts()
    assert pieces[0].get_text() == "piece 0: 400 points"


def test_results_without_points():
    graph = vbdm.neighbors(PLANE, 60)
    known = vbdm.NeighborGraph.from_arrays(graph.indices, graph.sqdist)
    spectrum = vbdm.estimate_operator(known, "generator").spectrum(4)
    with pytest.raises(vbdm.InputError, match="points are needed"):
        plot.density(spectrum)
    plot.density(spectrum, points=spectrum.eigenfunctions[:, 1:3])
    with pytest.raises(vbdm.InputError, match="one row for each"):
        plot.density(spectrum, points=PLANE[:7])
    render(spectrum.plot())


def test_small_and_unsymmetric_results():
    render(vbdm.estimate_operator(PLANE[:10], "generator").spectrum(1).plot())
    left = vbdm.estimate_operator(PLANE[:100], "generator", method=vbdm.Paper(form="left"))
    render(left.spectrum(3).plot())
    left = vbdm.estimate_operator(LINE, "generator", method=vbdm.Paper(form="left")).spectrum(3)
    assert not plot.eigenfunctions(left).collections  # no band: errors are not known


def test_a_title_names_the_potential():
    op = vbdm.estimate_operator(PLANE, potential=PLANE[:, 0] ** 2)
    assert "Generator in a given potential from 400 points" in plot.summary(op).get_suptitle()


def test_more_pieces_than_colours_are_drawn_together():
    parts = [PLANE[:30] + np.array([60.0 * i, 0]) for i in range(len(CYCLE) + 2)]
    spectrum = vbdm.estimate_operator(np.vstack(parts), "generator").spectrum(len(CYCLE) + 4)
    texts = [text.get_text() for text in plot.embedding(spectrum).get_legend().get_texts()]
    assert len(texts) == len(CYCLE) + 1
    assert texts[-1] == "2 smaller pieces"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_things_are_refused(name):
    with pytest.raises(vbdm.InputError, match="received ndarray"):
        FUNCTIONS[name](PLANE)


def test_an_operator_has_no_eigenfunctions_yet(spectra):
    with pytest.raises(vbdm.InputError, match=r"op\.spectrum\(10\)"):
        plot.eigenfunctions(spectra["plane"].operator)


def test_without_matplotlib_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import vbdm, vbdm.plot, numpy as np\n"
        "op = vbdm.estimate_operator(np.random.default_rng(0).normal(size=(50, 2)), 1.0)\n"
        "try: vbdm.plot.density(op)\n"
        "except ImportError as error: print(error)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "vbdm[plot]"' in out.stdout


def test_loaded_results_look_the_same(spectra, tmp_path):
    spectra["plane"].save(tmp_path / "model")
    ax, again = plot.tuning(spectra["plane"]), plot.tuning(vbdm.load(tmp_path / "model"))
    for one, two in zip(ax.lines, again.lines, strict=True):
        np.testing.assert_array_equal(one.get_ydata(), two.get_ydata())


def test_a_thin_third_direction_is_not_drawn_in_space():
    """A box that is mostly empty hides what it should show: two axes of 95 % are enough."""
    points = np.random.default_rng(4000).standard_normal((300, 5)) * [4, 1, 0.7, 0.2, 0.1]
    assert place(vbdm.estimate_operator(points), None).n_dims == 2
    wide = points * [1, 2, 3, 1, 1]
    assert place(vbdm.estimate_operator(wide), None).n_dims == 3


def test_the_far_side_is_faint_but_there(spectra):
    ax = plot.eigenfunctions(spectra["space"])
    alpha = ax.collections[0].get_alpha()
    assert alpha.min() >= 0.25
    assert alpha.max() == 1


def test_in_space_the_colour_bar_keeps_clear_of_the_upright_axis(spectra):
    figure = render(plot.summary(spectra["space"]))
    clouds = [ax for ax in figure.axes if ax.name == "3d"]
    bars = [ax for ax in figure.axes if "colorbar" in ax.get_label()]
    assert len(bars) == 4
    for bar, cloud in zip(bars, clouds, strict=False):
        assert bar.get_tightbbox().x1 <= cloud.get_window_extent().x0


# --- Equations -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["line", "plane", "space", "ten columns"])
def test_solutions_are_drawn_on_the_points(spectra, name):
    op, x = spectra[name].operator, CLOUDS[name][:, 0]
    low, high = x < np.quantile(x, 0.2), x > np.quantile(x, 0.8)
    for found in (op.committor(low, high), op.mean_first_passage(low), op.solve(x, screen=1.0)):
        ax = found.plot(names=["first"])
        render(ax.figure)
        assert ax.get_xlabel() == "first"
    both = op.equations.hitting_probabilities({"low": low, "high": high}).plot()
    assert [ax.get_title().splitlines()[0] for ax in both] == [
        "probability to reach low first", "probability to reach high first",
    ]  # fmt: skip


def test_the_half_line_is_where_the_committor_is_half(spectra):
    op = spectra["plane"].operator
    found = op.committor(PLANE[:, 0] < -1, PLANE[:, 0] > 1)
    ax = found.plot()
    (line,) = [c for c in ax.collections if type(c).__name__ == "QuadContourSet"]
    along = np.concatenate([path.vertices for path in line.get_paths()])
    inner = np.abs(along[:, 1]) < 1
    assert inner.sum() > 10
    assert np.abs(along[inner, 0]).max() < 0.35


def test_arrows_follow_the_flux_in_any_coordinates(spectra):
    """Along x, from left to right, also where both axes are exchanged, stretched or bent."""
    found = spectra["plane"].operator.committor(PLANE[:, 0] < -1, PLANE[:, 0] > 1)
    bent = np.c_[np.sinh(PLANE[:, 0]), PLANE[:, 1]]
    for points, along in ((None, 0), (PLANE[:, ::-1] * [1, 7], 1), (bent, 0)):
        ax = found.plot(points=points)
        (arrows,) = [own for own in ax.collections if type(own).__name__ == "Quiver"]
        steps = np.c_[arrows.U, arrows.V].sum(axis=0)
        assert steps[along] > 10 * abs(steps[1 - along])


@pytest.mark.parametrize("metric", ["manhattan", "precomputed"])
def test_arrows_of_points_without_directions_need_places(metric):
    points = PLANE if metric == "manhattan" else np.abs(PLANE[:, None] - PLANE).sum(axis=2)
    op = vbdm.estimate_operator(points, "generator", metric=metric, dim=2)
    found = op.committor(PLANE[:, 0] < -1, PLANE[:, 0] > 1)
    (arrows,) = [c for c in found.plot(points=PLANE).collections if type(c).__name__ == "Quiver"]
    along, across = np.c_[arrows.U, arrows.V].sum(axis=0)
    assert along > 5 * abs(across)
    if metric == "manhattan":
        plain = found.plot()
        assert not [c for c in plain.collections if type(c).__name__ == "Quiver"]


def test_places_in_another_period_of_a_column_are_told_from_bent_ones():
    wrapped, box = PLANE % [5, 7], np.array([5.0, 0.0])
    np.testing.assert_array_equal(linear_map(wrapped, PLANE[:, :1], box), [[1.0], [0.0]])
    assert linear_map(wrapped, PLANE[:, :1], np.zeros(2)) is None
    turned = wrapped @ [[0.6, 0.8], [-0.8, 0.6]]
    np.testing.assert_allclose(linear_map(wrapped, turned, box), [[0.6, 0.8], [-0.8, 0.6]])


def test_points_without_a_solution_are_grey(spectra):
    op = spectra["two pieces"].operator
    x = CLOUDS["two pieces"][:, 0]
    found = op.committor(x < -1, (x > 1) & (x < 10))
    assert found.unreached.any()
    render(found.plot().figure)


def test_states_are_drawn_where_they_are_known(spectra):
    op = spectra["plane"].operator
    shares = np.tile([0.7, 0.0, 0.3], (400, 1))
    shares[:50] = np.nan
    shares[50:80] = [0.2, 0.0, 0.8]
    rates = np.zeros((3, 3))
    result = States(
        memberships=shares, labels=np.zeros(400, int), populations=(Estimate(0.5, 0.1),) * 3,
        rates=rates, rate_errors=rates, timescales=np.ones(2), timescale_errors=np.ones(2),
        crispness=0.5, gap=np.nan,
    )  # fmt: skip
    ax = states_on_points(result, op).axes[0]
    assert [len(drawn.get_offsets()) for drawn in ax.collections] == [50, 320, 30]
    # A state to which no point belongs most has no entry.
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "2"]
