"""Labels and dates in a file stay beside the points; no number is taken for one."""

import shlex

import numpy as np
import pytest

from vbdm.cli.options import in_options
from vbdm.errors import InputError
from vbdm.io import prepare, read


@pytest.fixture
def file(tmp_path):
    def write(text, name="a.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_labels_and_dates_are_set_aside_with_a_note(file):
    table = read(
        file("date,x,kind,y,ok\n2020-01-31,1,a,5,True\n,3,,4,False\n2020-03-31,2,b,7,True\n")
    )
    assert table.names == ("x", "y")
    assert table.values.tolist() == [[1, 5], [3, 4], [2, 7]]
    notes = table.about_rows
    assert notes.labels["kind"].values.tolist() == ["a", "", "b"]
    assert notes.labels["ok"].names == ("True", "False")
    assert notes.time_name == "date"
    days = notes.times.astype("datetime64[D]").astype(str).tolist()
    assert days == ["2020-01-31", "NaT", "2020-03-31"]
    assert table.notes == (
        "Set aside as labels, not coordinates: kind, ok.",
        "Set aside as the time of the rows: date.",
    )


def test_what_is_set_aside_stays_with_its_rows(file):
    rows = "".join(f"{value},{'ab'[row % 2]}\n" for row, value in enumerate([3, 1, "", 7, 5, 2]))
    cloud, _ = prepare(read(file("x,kind\n" + rows)), delays=2, missing="drop")
    assert cloud.rows.tolist() == [1, 4, 5]
    assert cloud.about_rows.labels["kind"].values.tolist() == ["b", "a", "b"]


def test_columns_that_were_not_chosen_are_kept_beside_the_points(file):
    path = file("year,x,y,kind\n1990,1,2,a\n1991,3,NA,b\n")
    table = read(path, columns="x")
    assert table.names == ("x",)
    assert table.about_rows.numbers["year"].tolist() == [1990, 1991]
    np.testing.assert_equal(table.about_rows.numbers["y"], [2, np.nan])
    assert table.about_rows.labels["kind"].names == ("a", "b")
    assert table.notes == ()
    # Another file that is treated alike needs its coordinates only.
    _, preparation = prepare(table)
    assert not read(path, columns=preparation).about_rows


def test_sodium_is_a_label_and_identifiers_are_left_out(file):
    text = "".join(f"{row / 7},{['Na', 'K'][row % 2]},id_{row}\n" for row in range(1100))
    table = read(file("x,ion,id\n" + text))
    assert table.about_rows.labels["ion"].names == ("Na", "K")
    assert list(table.about_rows.labels) == ["ion"]
    assert table.notes[-1] == "Left out, since it tells no groups apart: id."


@pytest.mark.parametrize(
    ("cells", "first"),
    [
        (["2020-01-31T12:30:00Z", "2020-02-01T00:00:00+02:00"], "2020-01-31T12:30:00.000000"),
        (["2020/1/5 08:15", "2020/2/5 08:15"], "2020-01-05T08:15:00.000000"),
        (["5.1.2020", "6.1.2020"], "2020-01-05T00:00:00.000000"),
        (["1/30/2020", "2/1/2020"], "2020-01-30T00:00:00.000000"),
        (["1/2/2020", "30/1/2020"], "2020-02-01T00:00:00.000000"),
        (["1958-03", "1958-04"], "1958-03-01T00:00:00.000000"),
    ],
)
def test_ways_to_write_dates(file, cells, first):
    table = read(file("t;x\n" + "".join(f"{cell};{len(cell)}\n" for cell in cells)))
    assert table.about_rows.times.astype(str)[0] == first


@pytest.mark.parametrize("cells", [["1/2/2020", "3/4/2020"], ["2020-13-01", "2020-02-31"]])
def test_dates_in_doubt_are_labels(file, cells):
    table = read(file("t;x\n" + "".join(f"{cell};{len(cell)}\n" for cell in cells)))
    assert table.about_rows.times is None
    assert table.about_rows.labels["t"].names == tuple(cells)


ERRORS = ["#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NV", "#BEZUG!"]


@pytest.mark.parametrize("cell", ERRORS)
@pytest.mark.parametrize("delimiter", [",", ";", "\t", " "])
def test_errors_of_spreadsheets_are_cells_not_comments(file, cell, delimiter):
    rows = [["1", "2"], [cell, "3"], ["4", "6"]]
    path = file(
        "x y\n1 2\n".replace(" ", delimiter) + "".join(delimiter.join(r) + "\n" for r in rows)
    )
    if cell in ("#N/A", "#NV"):
        np.testing.assert_array_equal(read(path).values[:, 0], [1, 1, np.nan, 4])
        with pytest.raises(InputError, match="1 of 4 rows"):
            prepare(read(path))
    else:
        with pytest.raises(InputError, match=f"'{cell[:4]}.*line 4.*formula"):
            read(path)


def test_comments_are_still_comments(file):
    text = "# x y\n#made 2020!\n#1 2\n1 2\n#NOTE it is late\n3 4\n#\n"
    assert read(file(text, "a.txt")).values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("cell", ["1_1", "0x10", "\uff11\uff12", "\u0663", "1e5_0"])
def test_text_that_python_would_read_as_a_number(file, cell):
    with pytest.raises(InputError, match="A cell is not a number"):
        read(file(f"x,y\n1,2\n{cell},3\n"))


def test_identifiers_with_underscores_are_labels(file):
    table = read(file("well,y\n1_1,2\n1_2,3\n2_1,5\n"))
    assert table.names == ("y",)
    assert table.about_rows.labels["well"].names == ("1_1", "1_2", "2_1")


@pytest.mark.parametrize("cell", ["1,5", "\u22121", "12 %", "1'200", "\uff11\uff12"])
def test_numbers_in_another_notation_are_no_labels(file, cell):
    with pytest.raises(InputError, match="A cell is not a number"):
        read(file(f"x\ty\n{cell}\t2\n{cell}\t3.5\n", "a.tsv"))


def test_the_proposed_command_can_be_pasted_and_is_complete(file):
    names = ["sepal length (cm)", "it's", "kind", "petal width", "bad"]
    with pytest.raises(InputError) as caught:
        read(file(",".join(names) + "\n1,2,a,3,1\n4,5,b,6,x\n"))
    words = shlex.split(in_options(str(caught.value)).partition("such as ")[2])
    assert words[:2] == ["--columns", "sepal length (cm),it's,petal width,"]


@pytest.mark.parametrize(
    "text", ["x,y\n1,2\n3,\x1b[2J\n", "x\x1b[2J\n1\n2\n", "x\x1b]0;t\x07,y\n1,z\n2,q\n"]
)
def test_escape_sequences_are_shown_not_obeyed(file, text):
    path = file(text)
    with pytest.raises(InputError) as caught:
        read(path, columns="y")
    assert "\x1b" not in str(caught.value)
    assert "x1b" in str(caught.value)


def test_parquet(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    days = np.array(["2020-01-01", "2020-01-02", "NaT"], dtype="datetime64[D]")
    columns = {
        "day": pyarrow.array(days), "x": [1.0, 2.0, 4.0], "kind": ["a", None, "b"],
        "ok": [True, False, None], "parts": [[1], [2], []],
        "code": pyarrow.array(["u", "v", "u"]).dictionary_encode(),
    }  # fmt: skip
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    table = read(tmp_path / "a.parquet")
    assert table.names == ("x",)
    assert table.about_rows.labels["kind"].values.tolist() == ["a", "", "b"]
    assert table.about_rows.labels["ok"].values.tolist() == ["True", "False", ""]
    assert table.about_rows.labels["code"].values.tolist() == ["u", "v", "u"]
    assert (
        table.about_rows.times.astype("datetime64[D]").astype(str).tolist()
        == days.astype(str).tolist()
    )
    assert "labels, not coordinates: kind, ok, code." in table.notes[0]
    assert table.notes[-1].endswith(": parts.")


def test_of_two_columns_of_dates_the_first_gives_the_times(file):
    table = read(file("from,x,to\n2020-01-01,1,2021-01-01\n2020-01-02,2,2021-01-02\n"))
    assert table.about_rows.time_name == "from"
    assert table.about_rows.times.astype("M8[D]").astype(str).tolist()[0] == "2020-01-01"
    assert table.about_rows.labels["to"].names == ("2021-01-01", "2021-01-02")


def test_of_two_columns_of_dates_in_parquet_the_second_is_left_out(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    days = np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]")
    columns = {"from": pyarrow.array(days), "x": [1.0, 2.0], "to": pyarrow.array(days + 366)}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    table = read(tmp_path / "a.parquet")
    assert (table.about_rows.times == days).all()
    assert table.about_rows.time_name == "from"
    assert table.notes[-1].endswith(": to.")


def test_a_column_with_one_word_among_dates_is_one_of_labels(file):
    table = read(file("day,x\n2020-01-01,1\nlater,2\n2020-01-01,3\n"))
    assert table.about_rows.times is None
    assert table.about_rows.labels["day"].names == ("2020-01-01", "later")


def test_fields_of_another_number_of_cells_are_left_out(tmp_path):
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    h5py = pytest.importorskip("h5py")
    obs = pd.DataFrame({"depth": [1, 2, 3, 4], "age": [5, 6, 7, 8]}, index=list("pqrs"))
    adata = anndata.AnnData(np.eye(4), obs=obs, obsm={"X_pca": np.eye(4)[:, :2]})
    adata.write_h5ad(tmp_path / "a.h5ad")
    with h5py.File(tmp_path / "a.h5ad", "a") as stored:
        notes = dict(stored["obs/age"].attrs)
        del stored["obs/age"]
        stored["obs/age"] = [5, 6, 7]
        stored["obs/age"].attrs.update(notes)
    assert set(read(tmp_path / "a.h5ad").about_rows.numbers) == {"depth"}


def test_times_of_netcdf(tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    times = np.datetime64("1990-01-01") + np.arange(5)
    field = (("time", "x"), np.arange(10.0).reshape(5, 2) ** 2, {"units": "K"})
    dataset = xarray.Dataset({"u": field}, coords={"time": times.astype("datetime64[ns]")})
    dataset.to_netcdf(tmp_path / "a.nc")
    table = read(tmp_path / "a.nc")
    assert (table.about_rows.times == times).all()
    assert (table.about_rows.time_name, table.unit) == ("time", "K")
    dataset["time"] = ("time", np.arange(5) * 0.5, {"units": "model years"})
    dataset.to_netcdf(tmp_path / "b.nc")
    notes = read(tmp_path / "b.nc").about_rows
    assert notes.times.tolist() == [0, 0.5, 1, 1.5, 2]
    assert notes.time_name == "time (model years)"


def test_fields_of_anndata(tmp_path):
    anndata, pd = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs = pd.DataFrame(
        {
            "kind": pd.Categorical(["a", None, "b", "a"]),
            "name": ["u", "v", "w", "u"],
            "ok": [True, False, True, True],
            "depth": [1, 2, 3, 4],
        },
        index=list("pqrs"),
    )
    adata = anndata.AnnData(np.eye(4), obs=obs, obsm={"X_pca": np.eye(4)[:, :2]})
    adata.write_h5ad(tmp_path / "a.h5ad")
    notes = read(tmp_path / "a.h5ad").about_rows
    assert notes.labels["kind"].values.tolist() == ["a", "", "b", "a"]
    assert notes.labels["name"].values.tolist() == ["u", "v", "w", "u"]
    assert notes.labels["ok"].values.tolist() == ["True", "False", "True", "True"]
    assert notes.numbers["depth"].tolist() == [1, 2, 3, 4]
