"""How users say that rows are time series: a list of arrays, `lengths`, `series`."""

import json

import numpy as np
import pytest
from tests.support.archives import write_members
from tests.support.commands import FAST, done, vbdm_command
from tests.support.estimates import estimate_with

import vbdm
from vbdm.io import Source, Table, prepare
from vbdm.io.saved.archive import HEADER
from vbdm.prepare.series import Series, read_series

POINTS = np.cumsum(np.random.default_rng(0).standard_normal((120, 2)), axis=0)


def test_a_list_of_arrays_is_one_array_with_lengths():
    listed = vbdm.estimate_operator([POINTS[:50], POINTS[50:]])
    joined = vbdm.estimate_operator(POINTS, lengths=[50, 70])
    assert listed.settings.series == joined.settings.series == Series((50, 70), True)
    np.testing.assert_array_equal(listed.density, joined.density)
    errors = [op.spectrum(4).standard_errors for op in (listed, joined)]
    np.testing.assert_array_equal(*errors)
    one = vbdm.estimate_operator(POINTS, series=True).spectrum(4)
    assert not np.allclose(errors[0][1:], one.standard_errors[1:])


def test_rows_in_a_list_are_rows():
    X, series = read_series(POINTS.tolist())
    assert len(X) == 120
    assert series == Series()
    assert read_series(tuple(POINTS))[1] == Series()
    assert read_series(POINTS, [120], series=False)[1] == Series((120,), False)


def test_a_graph_and_distances_have_series_too():
    graph = vbdm.neighbors(POINTS, 60)
    assert vbdm.estimate_operator(graph, lengths=(60, 60)).settings.series.lengths == (60, 60)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lengths": [50, 60]}, "add up to 110, and 120 rows"),
        ({"lengths": [120, 0]}, "a length of 0"),
        ({"lengths": [130, -10]}, "a length of -10"),
        ({"lengths": [60.0, 60.0]}, r"\[60.0, 60.0\]"),
        ({"lengths": [[60], [30, 30]]}, "must cut the rows into series"),
        ({"lengths": []}, "must cut the rows into series"),
        ({"lengths": "120"}, "must cut the rows into series"),
        ({"X": [POINTS[:50], POINTS[50:]], "lengths": [50, 70]}, "a list of 2 arrays"),
        ({"X": [POINTS, POINTS[:, :1]]}, "same columns"),
        ({"series": "yes"}, "`series` must be"),
    ],
)
def test_what_is_wrong_is_said(given, message):
    arguments = {"X": POINTS, **given}
    with pytest.raises(vbdm.InputError, match=message) as caught:
        estimate_with(**arguments)
    assert "received" in str(caught.value)


def test_the_estimator_takes_series():
    parts = [POINTS[:50], POINTS[50:]]
    listed = vbdm.DiffusionMap().fit(parts)
    joined = vbdm.DiffusionMap().fit(POINTS, lengths=[50, 70])
    assert listed.operator_.settings.series == joined.operator_.settings.series
    np.testing.assert_array_equal(listed.eigenvalue_errors_, joined.eigenvalue_errors_)
    np.testing.assert_array_equal(vbdm.DiffusionMap().fit_transform(parts), joined.embedding_)
    assert vbdm.DiffusionMap(series=False).fit(POINTS).operator_.settings.series.known is False


def test_saved_models_keep_the_series(tmp_path):
    path = tmp_path / "model.vbdm"
    spectrum = vbdm.estimate_operator(POINTS, lengths=[50, 70]).spectrum(4)
    spectrum.save(path)
    again = vbdm.load(path)
    assert again.settings.series == Series((50, 70), True)
    np.testing.assert_allclose(again.standard_errors, spectrum.standard_errors, rtol=1e-12)
    with np.load(path) as archive:
        members = {name: archive.zip.read(name) for name in archive.zip.namelist()}
    head = json.loads(members[HEADER])
    assert head["settings"]["series"] == {"lengths": [50, 70], "known": True}
    head["settings"]["series"]["lengths"] = [50, 71]
    write_members(path, {**members, HEADER: json.dumps(head)})
    with pytest.raises(vbdm.InputError, match="damaged"):
        vbdm.load(path)
    vbdm.save(vbdm.estimate_operator(POINTS), path)
    assert vbdm.load(path).settings.series == Series()


def test_delays_stay_inside_a_series():
    values = np.arange(20.0)[:, None]
    table = Table(values, ("x",), Source("a.npy", "npy", 0, ""))
    cloud, _ = prepare(table, columns="x", delays=3, lengths=[12, 8])
    assert cloud.rows.tolist() == [*range(2, 12), *range(14, 20)]
    assert cloud.lengths == (10, 6)
    np.testing.assert_array_equal(cloud.points[:, 0] - cloud.points[:, 2], 2)
    thin, _ = prepare(table, columns="x", every=2, lengths=[11, 9])
    assert thin.lengths == (6, 4)
    assert prepare(table, columns="x")[0].lengths == ()


def test_the_command_takes_lengths(tmp_path):
    np.save(tmp_path / "walk.npy", POINTS)
    out = tmp_path / "out"
    done("fit", tmp_path / "walk.npy", "--lengths", "50,70", "--out", out, *FAST)
    settings = json.loads((out / "results.json").read_text())["decided"]
    assert (settings["series"], settings["lengths"]) == (True, [50, 70])
    wrong = vbdm_command("fit", tmp_path / "walk.npy", "--lengths", "50,60", "--force")
    assert wrong.exit_code == 2
    assert "--lengths must cut the rows into series" in wrong.output
    assert vbdm_command("fit", tmp_path / "walk.npy", "--lengths", "a").exit_code == 2
