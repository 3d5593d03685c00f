"""Each light must turn amber or red when its trouble is there, and only then."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.signal import lfilter
from vbdm.trust.diagnosis import LONG, NOISE, diagnose

import vbdm
from vbdm.base.wording import common_style, counted, listed, one_of, percent, subscript, with_error
from vbdm.trust.randomness import autocorrelation_time, regularity

pytestmark = pytest.mark.filterwarnings("ignore::vbdm.VbdmWarning")


@dataclass(frozen=True)
class Table:
    """Eigenvalues over ε, made up."""

    epsilons: np.ndarray
    eigenvalues: np.ndarray
    standard_errors: np.ndarray
    chosen: int
    n_points: int


def table(rates, errors=0.001, n_points=600):
    values = -np.asarray(rates, dtype=float)
    return Table(2.0 ** np.arange(len(values)), values, np.full(values.shape, errors), 1, n_points)


@pytest.fixture(scope="module")
def sphere():
    return vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points).spectrum(5)


def found_in(spectrum, name, sensitivity=None):
    return next(d for d in diagnose(spectrum, sensitivity) if d.name == name)


def light_of(spectrum, name, sensitivity=None):
    found = {d.name: d for d in diagnose(spectrum, sensitivity)}
    assert found[name].words
    return found[name].light


def test_a_sound_result_is_green(sphere):
    assert {d.light for d in diagnose(sphere)} == {"green"}
    assert len({d.name for d in diagnose(sphere)}) == len(diagnose(sphere)) == 11


def test_pieces(sphere):
    points = np.concatenate([vbdm.datasets.circle(200, random_state=i).points for i in (0, 1)])
    points[200:] += 30
    halves = vbdm.estimate_operator(points).spectrum(5)
    assert light_of(halves, "Connected pieces") == "amber"
    strays = np.where(np.arange(600) < 60, np.arange(600), 0)
    assert light_of(replace(sphere, components=strays, n_solved=1), "Connected pieces") == "red"


def test_unresolved_points(sphere):
    name = "Unresolved points"
    half = np.arange(600) < 300
    assert light_of(replace(sphere, unresolved=half), name) == "red"
    assert light_of(replace(sphere, left_out=np.array([-3.0])), name) == "amber"
    # A few points, which no mode rests on, are nothing to worry about.
    assert light_of(replace(sphere, unresolved=np.arange(600) < 6), name) == "green"


def test_an_eigenvalue_that_could_not_be_given(sphere):
    values = sphere.eigenvalues.copy()
    values[4] = np.nan
    broken = replace(sphere, eigenvalues=values)
    broken.__dict__["standard_errors"] = sphere.standard_errors
    assert light_of(broken, "Unresolved points") == "red"


@pytest.mark.parametrize(("share", "light"), [(0.01, "green"), (0.1, "amber"), (0.6, "red")])
def test_neighbour_lists(sphere, share, light):
    operator = sphere.operator
    operator = replace(operator, kernel=replace(operator.kernel, saturated=share))
    assert light_of(replace(sphere, operator=operator), "Neighbour lists") == light


@pytest.mark.parametrize(
    ("error", "converged", "light"),
    [(1e-6, True, "green"), (5e-3, True, "amber"), (0.5, True, "red"), (1e-6, False, "red")],
)
def test_solver(sphere, error, converged, light):
    found = replace(sphere, error_estimate=error, converged=converged)
    assert light_of(found, "Solver") == light


def test_plateau(sphere):
    name = "Plateau over ε"
    flat = [[0, 2.0, 6.0], [0, 2.02, 6.1], [0, 2.03, 6.1]]
    sloped = [[0, 1.0, 3.0], [0, 2.0, 6.0], [0, 4.0, 12.0]]
    gentle = [[0, 1.8, 5.4], [0, 2.0, 6.0], [0, 2.1, 6.1]]
    assert light_of(sphere, name, table(flat)) == "green"
    assert light_of(sphere, name, table(gentle)) == "amber"
    # The same movement inside the error bars is no news.
    assert light_of(sphere, name, table(gentle, errors=0.5)) == "green"
    assert light_of(sphere, name, table(sloped)) == "red"
    # A part of the points moves more than all of them would.
    assert light_of(sphere, name, table(sloped, n_points=100)) == "amber"
    lost = [[0, np.nan, 6.0], [0, 2.0, 6.0], [0, 2.0, 6.0]]
    assert light_of(sphere, name, table(lost)) == "red"
    assert name not in {d.name for d in diagnose(sphere)}


def test_little_movement_that_exceeds_the_error_bars_is_a_systematic_error(sphere):
    moved = table([[0, 2.0, 6.0], [0, 2.04, 6.12], [0, 2.05, 6.15]])
    found = found_in(sphere, "Plateau over ε", moved)
    assert found.light == "green"
    assert "systematic error of 2.0 %" in found.words
    within = found_in(sphere, "Plateau over ε", replace(moved, standard_errors=np.ones((3, 3))))
    assert "less than the error bars" in within.words


def test_a_lost_member_of_a_group_leaves_the_mean_of_the_others():
    """Eigenvalue 8 is not among the first five, but in the group of the fourth and the fifth."""
    points = vbdm.datasets.sphere(600, random_state=0).points
    spectrum = vbdm.estimate_operator(points).spectrum(9)
    assert [4, 5, 6, 7, 8] in [group.tolist() for group in spectrum.groups]
    rates = np.tile([0, 2, 2, 2, 6, 6, 6, 6, 6.4], (3, 1))
    rates[0, 8] = np.nan
    found = found_in(spectrum, "Plateau over ε", table(rates))
    assert (found.light, found.value) == ("green", 0)


def test_the_plateau_names_what_was_compared(sphere):
    rates = [[0, 1.8], [0, 2.0], [0, 2.1]]
    assert "when ε is doubled or halved" in found_in(sphere, "Plateau over ε", table(rates)).words
    fours = replace(table(rates), epsilons=4.0 ** np.arange(3))
    words = found_in(sphere, "Plateau over ε", fours).words
    assert "when ε is multiplied by 4 or divided by 4" in words
    # On a finer grid the neighbours are nearer than a factor of two, and are passed over.
    fine = table([[0, 1.8], [0, 1.9], [0, 2.0], [0, 2.0], [0, 2.0]])
    fine = replace(fine, epsilons=2.0 ** (np.arange(5) / 2), chosen=2)
    assert found_in(sphere, "Plateau over ε", fine).value == pytest.approx(0.1)
    lost = replace(table([[0, 2.0], [0, 2.0], [0, np.nan]]), epsilons=3.0 ** np.arange(3))
    words = found_in(sphere, "Plateau over ε", lost).words
    assert "cannot be followed when ε is multiplied by 3" in words


def test_pieces_left_out_on_request_are_not_small(sphere):
    circles = [vbdm.datasets.circle(n, random_state=n).points + n for n in (250, 200)]
    operator = vbdm.estimate_operator(np.concatenate(circles))
    found = diagnose(operator.spectrum(4, components="largest"))
    pieces = next(d for d in found if d.name == "Connected pieces")
    assert pieces.light == "amber"
    assert "only the largest was solved, and 200 points of others left out" in pieces.words
    assert "small pieces" not in pieces.words
    assert next(d for d in found if d.name == "Unresolved points").value < 0.05


def test_members_of_a_group_may_move_if_the_mean_stays(sphere):
    turned = table([[0, 1.8, 2.0, 2.2], [0, 1.9, 2.0, 2.1], [0, 2.0, 2.0, 2.0]])
    found = found_in(sphere.operator.spectrum(4), "Plateau over ε", turned)
    assert found.light == "green"
    assert "less than the error bars" in found.words


def test_the_error_of_a_group_is_that_of_its_mean(sphere):
    found = sphere.operator.spectrum(4)
    assert [group.tolist() for group in found.groups] == [[0], [1, 2, 3]]
    assert "the mean of λ₁ to λ₃" in found_in(found, "Error bars").words


def in_series(memory, n=1500, seed=0):
    """Steps of a process on the line whose memory of the last step is this."""
    generator = np.random.default_rng(seed)
    noise = generator.standard_normal(n) * np.sqrt(1 - memory**2)
    noise[0] = generator.standard_normal()
    return lfilter([1], [1, -memory], noise)[:, None]


def test_independent_rows_are_green():
    for seed in range(200):
        generator = np.random.default_rng(seed)
        n = int(generator.integers(30, 3000))
        functions = generator.standard_normal((5, n)) ** generator.choice([1, 3], (5, 1))
        longest = max(autocorrelation_time(values) for values in functions)
        assert longest <= LONG + NOISE / np.sqrt(n)


def test_a_time_series_is_not_independent():
    points = in_series(0.97)
    found = found_in(vbdm.estimate_operator(points, "generator").spectrum(4), "Independence")
    assert found.light == "amber"
    # (1 + a)/(1 - a) is the truth for the slowest mode.
    assert found.value == pytest.approx(1.97 / 0.03, rel=0.4)
    assert "time series" in found.words
    shuffled = np.random.default_rng(0).permutation(points)
    mixed = found_in(vbdm.estimate_operator(shuffled, "generator").spectrum(4), "Independence")
    assert mixed.light == "green"
    assert mixed.value < 2


def test_sorted_thinned_and_repeated_rows():
    points = in_series(0.9)
    thin = vbdm.estimate_operator(points[::50], "generator").spectrum(3)
    assert light_of(thin, "Independence") == "green"
    ordered = vbdm.estimate_operator(np.sort(points, axis=0), "generator").spectrum(3)
    assert "merely sorted" in found_in(ordered, "Independence").words
    twice = np.repeat(vbdm.datasets.circle(200, random_state=0).points, 8, axis=0)
    assert light_of(vbdm.estimate_operator(twice).spectrum(3), "Independence") == "amber"
    assert autocorrelation_time(np.ones(50)) == 1
    assert autocorrelation_time([1.0, np.nan, -1.0, 1.0, -1.0]) >= 1


def grid(n=24):
    return np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).reshape(-1, 2).astype(float)


@pytest.mark.parametrize(
    "points",
    [
        grid(),
        grid() * np.array([1, 1.7]),
        np.linspace(0, 1, 300)[:, None] ** 2,
        np.stack([np.cos(np.arange(200) * np.pi / 100), np.sin(np.arange(200) * np.pi / 100)], 1),
    ],
    ids=["square", "oblong", "stretched", "circle"],
)
def test_regular_spacing(points):
    regular = found_in(vbdm.estimate_operator(points).spectrum(3), "Spacing")
    assert regular.light == "amber"
    assert "--no-leave-one-out (leave_one_out=False in Python)" in regular.words
    assert "--dim" in regular.words
    # Who has done so is left in peace.
    done = vbdm.estimate_operator(points, leave_one_out=False, dim=2).spectrum(3)
    assert light_of(done, "Spacing") == "green"


def test_the_autocorrelation_of_a_trend_is_that_of_the_sums():
    """A trend correlates the first rows with the last, if the transform is not long enough."""
    values = np.linspace(-1, 1, 100)
    sums = np.array([values[k:] @ values[: 100 - k] for k in range(100)]) / (values @ values)
    cut = int(np.argmax(sums <= 0))
    assert autocorrelation_time(values) == pytest.approx(1 + 2 * sums[1:cut].sum())


def test_random_points_of_a_plane_have_a_regularity_of_one_half():
    points = np.random.default_rng(0).random((2000, 2))
    assert regularity(vbdm.neighbors(points)) == pytest.approx(0.5, abs=0.03)


def test_random_points_are_not_regular():
    noise = 0.02 * np.random.default_rng(0).standard_normal((600, 10))
    clouds = [vbdm.datasets.closed_curve(600, random_state=0).points + noise]
    for seed in range(20):
        clouds.append(vbdm.datasets.ou(400, dim=1 + seed % 3, random_state=seed).points)
    for points in clouds:
        assert regularity(vbdm.neighbors(points)) < 0.75


def test_spacing_of_loaded_models_and_tiny_clouds(tmp_path):
    points = vbdm.datasets.circle(150, random_state=0).points
    spectrum = vbdm.estimate_operator(points).spectrum(3)
    vbdm.save(spectrum, tmp_path / "model.vbdm", kernel=False)
    loaded = vbdm.load(tmp_path / "model.vbdm")
    assert found_in(loaded, "Spacing").value == found_in(spectrum, "Spacing").value
    assert regularity(vbdm.neighbors(points[:5], 5)) is None
    # A large graph gives up its table: some points are searched for again.
    graph = vbdm.neighbors(points, 20)
    assert graph.released().table is None
    assert regularity(graph.released()) == pytest.approx(regularity(graph))


def test_error_bars(sphere):
    wide = replace(sphere)
    wide.__dict__["standard_errors"] = np.abs(sphere.eigenvalues) * 0.2
    assert light_of(wide, "Error bars") == "amber"
    wide.__dict__["standard_errors"] = np.abs(sphere.eigenvalues) * 0.5
    assert light_of(wide, "Error bars") == "red"


def test_weak_links(sphere):
    thin = replace(sphere, extent=np.array([np.inf, 50, 50, 3, 50]))
    found = next(d for d in diagnose(thin) if d.name == "Weak links")
    assert found.light == "amber"
    assert "Eigenvalue 3 hangs" in found.words
    assert found.words.endswith("before you trust it.")
    thin = replace(sphere, extent=np.array([np.inf, 50, 3, 3, 50]))
    assert "Eigenvalues 2 and 3 hang on" in found_in(thin, "Weak links").words
    assert found_in(thin, "Weak links").words.endswith("before you trust them.")


def test_error_exponents_follow_the_theory():
    points = vbdm.datasets.ou(600, dim=2, random_state=0).points
    fixed = vbdm.estimate_operator(points, "generator", beta=0).spectrum(3)
    assert light_of(fixed, "Error exponents") in ("amber", "red")
    moving = vbdm.estimate_operator(points, "generator").spectrum(3)
    assert light_of(moving, "Error exponents") == "green"


def test_dimension_that_depends_on_the_scale(sphere):
    noisy = replace(sphere.operator.dimension, by_scale=np.array([3.5, 2.5, 2.0]))
    operator = replace(sphere.operator, dimension=noisy)
    assert light_of(replace(sphere, operator=operator), "Dimension") == "amber"


def test_the_tail_matters_to_the_laplacian_only():
    points = vbdm.datasets.ou(2000, dim=2, random_state=0).points
    laplacian = vbdm.estimate_operator(points).spectrum(3)
    assert light_of(laplacian, "Density at the edge") == "red"
    generator = vbdm.estimate_operator(points, "generator").spectrum(3)
    assert "Density at the edge" not in {d.name for d in diagnose(generator)}


def test_the_judgement_on_the_tail_is_that_of_the_warning():
    for seed, sample in enumerate((vbdm.datasets.ou, vbdm.datasets.sphere)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            spectrum = vbdm.estimate_operator(sample(1500, dim=2, random_state=seed).points)
        warned = any(w.category is vbdm.DensityTailWarning for w in caught)
        light = light_of(spectrum.spectrum(3), "Density at the edge")
        assert (light == "red") == warned


def test_unsymmetric_forms_and_single_eigenvalues():
    points = vbdm.datasets.circle(150, random_state=0).points
    left = vbdm.estimate_operator(points, method="paper", form="left").spectrum(4)
    assert {"Neighbour lists", "Solver"} <= {d.name for d in diagnose(left)}
    one = vbdm.estimate_operator(points).spectrum(1)
    assert light_of(one, "Error bars") == "amber"


def test_words():
    assert listed(np.array([3])) == "3"
    assert listed(np.array([1, 2, 5])) == "1, 2 and 5"
    assert listed(np.arange(20)).endswith("…")
    assert [percent(x) for x in (0, 0.0004, 0.0123, 0.42)] == [
        "0 %", "less than 0.1 %", "1.2 %", "42 %",
    ]  # fmt: skip
    assert subscript(12) == "₁₂"
    assert [counted(n, "point") for n in (0, 1, 1200)] == ["0 points", "1 point", "1,200 points"]
    assert [one_of(things, "it", "them") for things in ([1], [1, 2])] == ["it", "them"]


def test_one_point_is_one_point(sphere):
    one = found_in(replace(sphere, unresolved=np.arange(600) < 1), "Unresolved points").words
    assert "1 point (0.2 %) is too sparse" in one
    left = found_in(replace(sphere, left_out=np.array([-3.0])), "Unresolved points").words
    assert left.startswith("1 mode sat on")


def test_no_absurd_digits():
    assert with_error(1.1323381728811555, 4.4e-16) == "1.132"
    assert with_error(2.04, 0.02) == "2.04 ± 0.02"
    assert with_error(2.0, float("nan")) == "2"


def test_a_column_has_one_power_of_ten_and_as_many_decimals():
    style = common_style([0.0, -2e-7, -5.5e-6], [0.0, 3e-9, 1e-8])
    shown = [style.show(value) for value in (-2e-7, -5.5e-6)]
    assert shown == ["−0.2000·10⁻⁶", "−5.5000·10⁻⁶"]
    assert style.show(0.0) == "0"
    assert style.show(np.nan) == "—"
    # Errors far below the digits that make sense are not written as 0.
    assert common_style([-1.0], [1e-12]).show_error(1e-12) == "less than 0.00001"
