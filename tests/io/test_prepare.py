"""From a table to points: columns, missing values, scaling, delays, thinning; and again."""

import json
import re

import numpy as np
import pytest

import vbdm
from vbdm.errors import InputError
from vbdm.io import Preparation, Source, Table, prepare, read

SOURCE = Source("a.npy", "npy", 0, "")


def table_of(values, names=None, period=None):
    values = np.asarray(values)
    given = names or tuple(f"x{i}" for i in range(values.shape[1]))
    return Table(values, tuple(given), SOURCE, period=period, made_up=names is None)


@pytest.fixture
def series():
    return np.random.default_rng(2).standard_normal((60, 3)) * [1.0, 5.0, 0.1] + [3.0, -2.0, 0.0]


def test_nothing_to_do_copies_nothing(series):
    cloud, preparation = prepare(table_of(series))
    assert np.shares_memory(cloud.points, series)
    assert cloud.rows.tolist() == list(range(60))
    assert (cloud.n_read, cloud.dropped, cloud.metric, cloud.period) == (60, 0, "euclidean", None)
    assert preparation.columns == ("x0", "x1", "x2")


def test_delays_are_rows_before(series):
    cloud, _ = prepare(table_of(series, "abc"), columns="c,a", delays=3, delay_step=4)
    assert cloud.names == ("c", "a", "c@-4", "a@-4", "c@-8", "a@-8")
    assert cloud.rows.tolist() == list(range(8, 60))
    for lag in range(3):
        expected = series[cloud.rows - 4 * lag][:, [2, 0]]
        np.testing.assert_array_equal(cloud.points[:, 2 * lag : 2 * lag + 2], expected)


@pytest.mark.parametrize("delays", [0, 1])
def test_no_delays(series, delays):
    cloud, preparation = prepare(table_of(series), delays=delays)
    np.testing.assert_array_equal(cloud.points, series)
    assert preparation.delays == 1


def test_gaps_are_not_bridged(series):
    series[20, 1] = np.nan
    cloud, _ = prepare(table_of(series), delays=2, delay_step=3, missing="drop")
    assert 20 not in cloud.rows
    assert 23 not in cloud.rows
    assert cloud.dropped == 2
    assert cloud.notes == ("1 of 60 rows has missing values; 2 points that need it were left out.",)
    assert np.isfinite(cloud.points).all()
    # A gap in a column that is not used is none.
    assert prepare(table_of(series), columns="x0")[0].dropped == 0


def test_missing_values_are_named(series):
    series[[7, 9, 30], [0, 2, 2]] = np.nan
    with pytest.raises(InputError, match=r"3 of 60 .* first: 7, 9, 30 .*x0, x2.*missing='drop'"):
        prepare(table_of(series))
    series[:, 1] = np.nan
    with pytest.raises(InputError, match=r"Every row.*`columns`"):
        prepare(table_of(series), missing="drop")


@pytest.mark.parametrize("missing", ["error", "drop"])
def test_infinity_is_always_refused(series, missing):
    series[11, 1] = -np.inf
    with pytest.raises(InputError, match=r"infinity in column\(s\) x1, first in row 11"):
        prepare(table_of(series), missing=missing)


def test_thinning(series):
    cloud, _ = prepare(table_of(series), delays=2, every=10)
    assert cloud.rows.tolist() == [1, 11, 21, 31, 41, 51]
    drawn, _ = prepare(table_of(series), subsample=20, seed=4)
    assert len(np.unique(drawn.rows)) == 20
    assert (np.diff(drawn.rows) > 0).all()
    np.testing.assert_array_equal(drawn.points, series[drawn.rows])
    again, _ = prepare(table_of(series), subsample=20, seed=4)
    other, _ = prepare(table_of(series), subsample=20, seed=5)
    assert (again.rows == drawn.rows).all()
    assert (other.rows != drawn.rows).any()
    assert len(prepare(table_of(series), subsample=1000)[0].rows) == 60


def test_standardized_columns(series):
    series[:, 2] = 1e8 + 0.1
    cloud, preparation = prepare(table_of(series), standardize=True, subsample=30)
    np.testing.assert_allclose(cloud.points[:, :2].mean(axis=0), 0, atol=1e-14)
    np.testing.assert_allclose(cloud.points[:, :2].std(axis=0), 1)
    # A column that does not vary stays where it is, rounding errors are not blown up.
    assert preparation.scale[2] == 1.0
    assert np.abs(cloud.points[:, 2]).max() < 1e-6


def test_new_file_is_treated_alike(tmp_path, series):
    """A row has the same point, whether it came with the first file or with a later one."""
    np.savetxt(tmp_path / "a.csv", series, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    np.savetxt(
        tmp_path / "b.csv", series[20:, ::-1], delimiter=",", header="c,b,a", comments="",
        fmt="%.17g",
    )  # fmt: skip
    table = read(tmp_path / "a.csv", columns="a,c")
    cloud, learned = prepare(table, standardize=True, delays=3, delay_step=2)
    preparation = Preparation.from_dict(json.loads(json.dumps(learned.as_dict())))
    assert preparation == learned
    for new in (read(tmp_path / "b.csv"), read(tmp_path / "b.csv", columns=preparation)):
        later = preparation.apply(new)
        assert later.names == cloud.names
        # The first new point needs rows 20, 22 and 24 of the old file.
        np.testing.assert_array_equal(later.points, cloud.points[20:])
        assert later.rows.tolist() == list(range(4, 40))


def test_thinning_is_not_applied_to_new_files(series):
    _, preparation = prepare(table_of(series), every=7, subsample=5)
    assert len(preparation.apply(table_of(series)).points) == 60


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("abc", "cbad", [0, 2]),
        (None, 3, [2, 0]),
        (None, 2, [0, 1]),
        ("abc", 2, [0, 1]),
        ("abc", 3, [2, 0]),
        (None, "uvw", [2, 0]),
        ("abc", "ab", None),
        ("abc", "xyz", None),
        (None, "uvwx", None),
        # Names that look like positions, but the third column is called x3.
        (("x1", "x2", "x3"), 3, [2, 0]),
        (("x1", "x2", "x3"), 4, None),
        (("x1", "x2", "x3"), ("x3", "x2", "x1"), [0, 2]),
        (None, ("x2", "x0", "x1"), [2, 0]),
    ],
)
def test_columns_are_found_by_name_or_position(series, old, new, expected):
    _, preparation = prepare(table_of(series, old), columns=[2, 0])
    made_up = isinstance(new, int)
    names = tuple(f"x{i}" for i in range(new)) if made_up else tuple(new)
    if expected is None:
        with pytest.raises(InputError, match="does not have the columns"):
            preparation.find(names, made_up)
    else:
        assert preparation.find(names, made_up) == expected


def test_names_that_look_like_positions(tmp_path, series):
    """The third of x1, x2, x3 is no column x3 of a file without names."""
    header = {"delimiter": ",", "comments": "", "fmt": "%.17g"}
    np.savetxt(tmp_path / "a.csv", series, header="x1,x2,x3", **header)
    np.savetxt(tmp_path / "b.csv", series[:, :2], **header)
    np.save(tmp_path / "b.npy", series[:, :2])
    np.save(tmp_path / "c.npy", series)
    cloud, learned = prepare(read(tmp_path / "a.csv", columns="x1,x2"))
    assert learned.apply(read(tmp_path / "a.csv")).notes == cloud.notes
    for name in ("b.csv", "b.npy"):
        for table in (read(tmp_path / name, columns=learned), read(tmp_path / name)):
            new = learned.apply(table)
            np.testing.assert_array_equal(new.points, cloud.points)
            assert "Columns were found by their position" in new.notes[-1]
    with pytest.raises(InputError, match="only one of the two files has names"):
        read(tmp_path / "c.npy", columns=learned)
    chosen = read(tmp_path / "c.npy", columns="0,1")
    np.testing.assert_array_equal(learned.apply(chosen).points, cloud.points)


def test_periods_follow_their_columns(series):
    table = table_of(series, period=(None, 2.0, 3.0))
    cloud, preparation = prepare(table, columns="2,0", delays=2)
    assert cloud.period == (3.0, None, 3.0, None)
    assert preparation.apply(table).period == cloud.period
    assert prepare(table, columns="0")[0].period is None
    assert prepare(table, columns="0,1", period=[7, None])[0].period == (7.0, None)
    assert prepare(table_of(series), period=4)[0].period == (4.0, 4.0, 4.0)
    cloud, _ = prepare(table, columns="0,1")
    assert vbdm.neighbors(cloud.points, 5, period=cloud.period).period.tolist() == [0.0, 2.0]


def test_angles_are_not_standardized(series):
    table = table_of(series, "abc", period=(None, 2.0, None))
    with pytest.raises(InputError, match=r"periodic column\(s\): b"):
        prepare(table, standardize=True)
    prepare(table, columns="a,c", standardize=True)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"delays": -1}, "`delays`"),
        ({"delays": 2.5}, "`delays`"),
        ({"delays": 61}, "fewer rows than the delays need"),
        ({"delays": 4, "delay_step": 20}, "fewer rows than the delays need"),
        ({"delay_step": 0}, "`delay_step`"),
        ({"every": 0}, "`every`"),
        ({"subsample": 1}, "`subsample`"),
        ({"seed": -1}, "`seed`"),
        ({"missing": "fill"}, "`missing`"),
        ({"columns": "z"}, "no such column"),
        ({"period": [1, 2]}, "`period`"),
    ],
)
def test_impossible_settings(series, settings, words):
    with pytest.raises(InputError, match=words):
        prepare(table_of(series), **settings)


def test_no_complete_run_of_rows(series):
    series[::2, 0] = np.nan
    with pytest.raises(InputError, match="No point is left"):
        prepare(table_of(series), delays=2, missing="drop")


def test_too_large_to_standardize():
    with pytest.raises(InputError, match="cannot be standardised"):
        prepare(table_of([[1e300], [-1e300], [3.0]]), standardize=True)


def test_blocks_of_rows_make_no_difference(series, monkeypatch):
    series[33, 1] = np.nan
    settings = {"columns": "2,0", "delays": 2, "standardize": True, "missing": "drop"}
    whole, _ = prepare(table_of(series), **settings)
    monkeypatch.setattr("vbdm.io.preparation.AT_A_TIME", 10)
    parts, _ = prepare(table_of(series), **settings)
    np.testing.assert_array_equal(whole.points, parts.points)


@pytest.mark.parametrize(
    "change",
    [
        {"columns": ["z"]}, {"center": [1.0]}, {"scale": None}, {"delays": "two"}, {"new": 1},
        {"missing": "fill"}, {"names": 3}, {"period": [1.0]}, {"delays": 0}, {"delays": 1.5},
        {"delay_step": -1}, {"delays": True}, {"scale": [1.0, 0.0, 1.0]}, {"made_up": "no"},
        {"scale": [1.0, float("nan"), 1.0]}, {"center": [0.0, float("inf"), 1.0]},
    ],
)  # fmt: skip
def test_damaged_preparation(series, change):
    _, preparation = prepare(table_of(series), standardize=True)
    with pytest.raises(InputError):
        Preparation.from_dict({**preparation.as_dict(), **change})


def test_a_projection_of_other_columns_is_damage(series):
    _, preparation = prepare(table_of(series), pca=2)
    stored = preparation.as_dict()
    assert Preparation.from_dict(stored) == preparation
    with pytest.raises(InputError, match="a projection of other columns"):
        Preparation.from_dict({**stored, "delays": 2})


def with_row_numbers(series, start=0, step=1, name="id"):
    counted = np.column_stack([series, start + step * np.arange(len(series))])
    return table_of(counted[:, [3, 0, 1, 2]], (name, "x", "y", "z"))


@pytest.mark.parametrize(("start", "step"), [(0, 1), (1, 1), (1_000_000, 1), (59, -1)])
def test_a_column_that_counts_the_rows_is_refused(series, start, step):
    table = with_row_numbers(series, start, step)
    words = r"'id' \(number 0\).*Leave it out with columns='x,y,z'; .*with columns='id,x,y,z'\."
    with pytest.raises(InputError, match=words):
        prepare(table)
    with pytest.raises(InputError, match=words):
        prepare(table, subsample=20, delays=2)
    # Whoever wants it gets it.
    assert prepare(table, columns="id,x,y,z")[0].points.shape == (60, 4)
    assert prepare(table, columns="x,y,z")[0].notes == ()


def test_the_advice_works_as_it_stands(tmp_path, series):
    pandas = pytest.importorskip("pandas")
    names = ["a, in m", "b", "1"]
    pandas.DataFrame(series, columns=names).to_csv(tmp_path / "a.csv")
    with pytest.raises(InputError, match="counts the rows") as caught:
        prepare(read(tmp_path / "a.csv"))
    without, everything = re.findall(r"columns='(\S+?)'[;.]", str(caught.value))
    assert prepare(read(tmp_path / "a.csv", columns=without))[0].names == tuple(names)
    assert prepare(read(tmp_path / "a.csv", columns=everything))[0].points.shape == (60, 4)


@pytest.mark.parametrize("name", ["a.npy", "a.parquet", "a.h5"])
def test_all_formats_know_columns_that_count(tmp_path, series, name):
    counted = np.column_stack([np.arange(60), series])
    if name == "a.npy":
        np.save(tmp_path / name, counted)
    elif name == "a.h5":
        with pytest.importorskip("h5py").File(tmp_path / name, "w") as file:
            file["x"] = counted
    else:
        pyarrow = pytest.importorskip("pyarrow")
        columns = dict(zip(("x0", "x1", "x2", "x3"), counted.T, strict=True))
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), tmp_path / name)
    with pytest.raises(InputError, match=r"columns='x1,x2,x3';"):
        prepare(read(tmp_path / name))


def test_what_only_resembles_row_numbers_is_taken(series):
    shuffled = np.random.default_rng(0).permutation(60)
    broken = np.arange(60)
    broken[40] += 1
    for column in (shuffled, broken, np.arange(60) ** 2, np.ones(60)):
        prepare(table_of(np.column_stack([column, series])))
    prepare(table_of(with_row_numbers(series).values[:9]))
    # A regular grid on a line, and a diagonal one.
    prepare(table_of(np.arange(60)[:, None]))
    prepare(table_of(np.arange(60)[:, None] + [0, 5]))


def test_a_time_with_another_step_is_noted(series):
    for step in (0.1, 5, -1 / 3, np.float32(0.1)):
        cloud, _ = prepare(with_row_numbers(series, step=step, name="t"), subsample=30)
        assert cloud.notes[0].startswith("t changes by the same step in every row")
        assert len(cloud.notes) == 1
        written = with_row_numbers(np.round(series, 3), step=step, name="t")
        written.values[:, 0] = np.round(written.values[:, 0], 3)
        assert len(prepare(written)[0].notes) == 1
    assert prepare(with_row_numbers(series, step=0.1), columns="0-3")[0].notes == ()


def test_odd_tables_are_noted(series):
    assert prepare(table_of(series))[0].notes == ()
    assert prepare(table_of(series[:10].T))[0].notes == ()
    (note,) = prepare(table_of(series[:14].T))[0].notes
    assert note == "3 rows and 14 columns: is the table transposed?"
    assert prepare(table_of(np.tile(series, (1, 90))))[0].notes == ()
    (note,) = prepare(table_of(series), subsample=5000)[0].notes
    assert note == "All 60 points were taken: there are fewer than 5,000."
    assert prepare(table_of(series), subsample=60)[0].notes == ()
    series[:, 2] = 4.5
    assert prepare(table_of(series, "xyz"))[0].notes == ("Column z does not vary.",)
    series[:, 0] = 1.5
    assert prepare(table_of(series, "xyz"))[0].notes == ("Columns x, z do not vary.",)


@pytest.mark.parametrize("code", [-999, -9999, 1e20, 9.96921e36, np.float32(1e20)])
def test_codes_for_missing_values_are_noted(series, code):
    series[4:10, 0] = series[7:12, 1] = code
    (note,) = prepare(table_of(series, "xyz"), standardize=abs(code) < 1e5)[0].notes
    assert note == f"8 rows hold exactly {code:.7g} in x, y: a code for missing values?"


def test_what_is_no_code(series):
    series[:2, 0] = -999
    series[5:9, 1] = series[:, 1].max() + 5 * np.ptp(series[:, 1])
    series[:, 2] = np.arange(60) % 2
    assert prepare(table_of(series))[0].notes == ()
    # Zeros of a count far from the rest, and a wide but even spread.
    series[:, 0] = np.where(np.arange(60) % 3, 100 + series[:, 2], 0)
    series[:, 1] = np.geomspace(1, 1e12, 60)
    assert prepare(table_of(series))[0].notes == ()


def test_gaps_and_the_points_they_cost(series):
    series[[10, 20, 30], 0] = np.nan
    cloud, preparation = prepare(table_of(series), delays=3, missing="drop")
    assert cloud.dropped == 9
    assert cloud.notes[0] == (
        "3 of 60 rows have missing values; 9 points that need them were left out."
    )
    assert preparation.apply(table_of(series)).notes == cloud.notes
    alone, _ = prepare(table_of(series), missing="drop")
    assert alone.dropped == 3
    assert alone.notes == ("3 of 60 rows have missing values and were left out.",)
