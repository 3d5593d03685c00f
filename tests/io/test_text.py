"""Text tables: delimiters, headers, missing values, and messages that name line and column."""

import numpy as np
import pytest

from vbdm.errors import InputError
from vbdm.io import read
from vbdm.progress import listening


@pytest.fixture
def file(tmp_path):
    def write(text, name="a.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_text(text, encoding=encoding)
        return path

    return write


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("1,2.5\n-3e2,4\n", "a.csv"),
        ("1;2.5\n-3e2;4\n", "a.csv"),
        ("1\t2.5\n-3e2\t4", "a.tsv"),
        ("1 2.5\n-3e2 4\n", "a.tsv"),
        ("  1   2.5\n-3e2   4\n\n", "a.txt"),
        ("# a comment\n1, 2.5\n\n# another\n-3e2, 4\n", "a.dat"),
        ('"1","2.5"\r\n"-3e2","4"\r\n', "a.csv"),
    ],
)
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_delimiters(file, text, name, bom):
    table = read(file(bom + text, name))
    assert table.values.tolist() == [[1.0, 2.5], [-300.0, 4.0]]
    assert table.names == ("x0", "x1")


@pytest.mark.parametrize(
    ("text", "names", "first"),
    [
        ("x,y\n1,2\n3,4\n", ("x", "y"), 1),
        ("# x y\n1 2\n3 4\n", ("x", "y"), 1),
        ("# made by hand\n1 2\n3 4\n", ("x0", "x1"), 1),
        ('"x, in m","x, in m"\n1,2\n', ("x, in m", "x, in m_2"), 1),
        (",x\n0,1\n1,2\n", ("x0", "x"), 0),
        ("1,2\n3,4\n", ("x0", "x1"), 1),
        ("2020,name\n1,2\n", ("2020", "name"), 1),
        ("nan,1\n3,4\n", ("x0", "x1"), np.nan),
    ],
)
def test_header_is_detected(file, text, names, first):
    name = "a.txt" if text.startswith("#") else "a.csv"
    table = read(file(text, name))
    assert table.names == names
    np.testing.assert_equal(table.values[0, 0], first)


def test_header_can_be_told(file):
    path = file("1,2\n3,4\n")
    assert read(path, header=True).names == ("1", "2")
    assert len(read(path, header=True).values) == 1
    assert read(path, header=False).names == ("x0", "x1")
    with pytest.raises(InputError, match="'x' in line 1"):
        read(file("x,y\n1,2\n"), header=False)
    with pytest.raises(InputError, match="`header`"):
        read(path, header="maybe")


def test_first_row_with_a_label_is_no_header(file):
    """Otherwise the first point would silently become names."""
    table = read(file("1,2,a\n3,4,b\n"), columns="0-1")
    assert table.values.tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ("y,x", ("y", "x")), ("0,3", ("t", "y")), ("2-3", ("x", "y")), ("2", ("x",)),
        (["x"], ("x",)), (3, ("y",)), ([3, "t"], ("y", "t")), (" x , y ", ("x", "y")),
    ],
)  # fmt: skip
def test_columns_by_name_and_number(file, columns, names):
    path = file("t,label,x,y\n0,a,1,2\n1,b,3,4\n")
    table = read(path, columns=columns)
    assert table.names == names
    expected = {"t": 1.0, "x": 3.0, "y": 4.0}
    assert table.values[1].tolist() == [expected[name] for name in names]


@pytest.mark.parametrize(
    "columns", ["z", "0-9", "", "x,x", "3-2", [7], [True], "-1", [], "x,,y", 1.5]
)
def test_impossible_choices_of_columns(file, columns):
    with pytest.raises(InputError, match=r"t, x, y"):
        read(file("t,x,y\n0,1,2\n"), columns=columns)


def test_missing_values(file):
    table = read(file("x,y\n1,\nNA,2\nnull,3\n4,5\n"))
    expected = [[1, np.nan], [np.nan, 2], [np.nan, 3], [4, 5]]
    np.testing.assert_array_equal(table.values, expected)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,y\n1,2\n3,four\n", ["'four'", "line 3", "column 'y'", "columns='x'"]),
        ("# c\n\nx y\n1 2\n\n3 ?\n", ["'?'", "line 6", "column 'y'"]),
        ('x,y\n"1,5",2\n', ["'1,5'", "line 2", "Decimal commas"]),
        ("x;y\n1,5;2\n3,5;1.200\n", ["A cell", "'1,5'", "line 2"]),
        ("x;y\n" + "1,5;2\n" * 300 + "1.200;3\n", ["'1.200'", "line 302", "thousands"]),
        ("x,y\nTrue,TRUE\nFalse,true\n", ["'True'", "line 2", "True and False are labels"]),
        ("x,y\n1,2\n3\n4,5\n", ["line 3 with 1 cell", "2 are expected"]),
        ("x,y\n1,2\n3,4,5\n", ["line 3 with 3 cell"]),
        ("x,y\n", ["no points"]),
        ("# only\n\n", ["without any line of data"]),
        ("x" * 5_000_000, ["a line of more than 4,194,304 characters"]),
        ("a" + ",b" * 3_000_000 + "\n", ["a line of more than"]),
        ("x,y\n1,2\n\0\0\n", ["zero bytes"]),
    ],
)
def test_messages(file, text, words):
    with pytest.raises(InputError) as caught:
        read(file(text))
    for word in words:
        assert word in str(caught.value)


def test_ragged_lines_are_seen_though_columns_are_chosen(file):
    with pytest.raises(InputError, match="line 3 with 4"):
        read(file("x,y,z\n1,2,3\n1,2,3,4\n"), columns="x")


def test_other_encodings_are_named(file):
    with pytest.raises(InputError, match=r"0xb5.*Latin-1.*CSV UTF-8"):
        read(file("x,µ\n1,2\n", encoding="latin-1"))
    # Deep inside, where a first look does not reach.
    with pytest.raises(InputError, match="CSV UTF-8"):
        read(file("x,y\n" + "1,2\n" * 50_000 + "1,µ\n", encoding="latin-1"))


def test_long_tables_say_how_far_they_are(file, monkeypatch):
    monkeypatch.setattr("vbdm.io.text.REPORT_EVERY", 4)
    told = []
    with listening(told.append):
        read(file("x,y\n" + "1,2\n" * 10))
    assert {(own.room, own.done) for own in told} >= {("reading", 4), ("reading", 8)}


def test_exact_digits(file):
    values = np.random.default_rng(0).standard_normal((50, 2))
    text = "\n".join(f"{a!r},{b!r}" for a, b in values.tolist())
    np.testing.assert_array_equal(read(file(text)).values, values)
    # The patient reader, too.
    np.testing.assert_array_equal(read(file(text + "\nNA,NA")).values[:-1], values)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # As pandas writes columns without names, with row labels and without.
        (",0,1\n0,0.5,2\n1,0.25,3\n", ("x0", "0", "1")),
        (",0\n0,5\n1,6\n", ("x0", "0")),
        ("0,1,2\n0.5,2,1\n0.25,3,1\n", ("0", "1", "2")),
        # Years, with a gap and with row labels.
        ("1990,1991\n0.5,2.0\n,1e3\n", ("1990", "1991")),
        (",1990,1995\n7,0.5,2.0\n8,0.25,1e3\n", ("x0", "1990", "1995")),
        ("1990;1991\n0,5;2,0\n", ("1990", "1991")),
    ],
)
def test_whole_numbers_can_be_names(file, text, names):
    path = file(text)
    table = read(path)
    assert table.names == names
    assert len(table.values) == text.count("\n") - 1
    assert table.source.selection["header"] == "yes, numbers were taken as names"
    assert "header=False" in table.notes[0]
    assert len(read(path, header=False).values) == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "0,1\n1,0\n1,1\n",
        "0\n0.1\n0.2\n",
        "1990,1991\n0.5,2\n0.25,3.0\n",
        "1991,1990\n0.5,0.5\n",
        "1990,1990\n0.5,0.5\n",
        "0,1,2\n3,4,5\n",
        "1990,1991\n",
    ],
)
def test_whole_numbers_are_data_if_those_below_are_or_they_do_not_rise(file, text):
    table = read(file(text))
    assert len(table.values) == text.count("\n")
    assert table.source.selection == {"header": "no"}
    assert table.notes == ()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x;y\n1,5;2\n-0,25;1e3\n", "a.csv"),
        ("x\ty\n1,5\t2\n-0,25\t1e3\n", "a.tsv"),
        ("1,5;2\n-0,25;1e3\n", "a.csv"),
        ("1,5 2\n-0,25 1e3\n", "a.txt"),
        ("x y\n1,5 2\n-0,25 1e3\n", "a.txt"),
    ],
)
def test_decimal_commas(file, text, name):
    table = read(file(text, name))
    assert table.values.tolist() == [[1.5, 2.0], [-0.25, 1000.0]]
    assert table.source.selection["decimal"] == "commas were read as decimal points"
    assert table.notes == ("Commas were read as decimal points.",)


def test_decimal_commas_beside_other_columns_and_alone(file):
    dates = file("day;x;y\n01.02.2020;1,5;\n02.02.2020;2,5;3,5\n")
    np.testing.assert_array_equal(read(dates, columns="x,y").values, [[1.5, np.nan], [2.5, 3.5]])
    assert read(file("x\n0,5\n0,25\n")).values.tolist() == [[0.5], [0.25]]


def test_two_readings_of_a_comma_are_asked_about(file):
    path = file("0,6520\n0,0712\n1,3000\n")
    with pytest.raises(InputError, match=r"such as 0,0712\. .*points.*header=False"):
        read(path)
    assert read(path, header=False).values.tolist() == [[0, 6520], [0, 712], [1, 3000]]
    # Whole numbers of any length are no reason to ask.
    assert read(file("12,7\n3,140\n0,0\n")).values.tolist() == [[12, 7], [3, 140], [0, 0]]


@pytest.mark.parametrize("text", ["?,2.5\n1.5,3.5\n", "-,2.5\n1.5,3.5\n", "2020,name\n1,2\n"])
def test_a_first_line_with_numbers_is_not_taken_as_names_silently(file, text):
    table = read(file(text))
    first = text.split("\n")[0].replace(",", ", ")
    assert table.notes == (
        f"The first line ({first}) was taken as names; header=False reads it as a point.",
    )
    assert table.source.selection["header"] == "yes, numbers were taken as names"
    # Asked for, it needs no note; nor do names without numbers, or above row labels.
    assert read(file(text), header=True).notes == ()
    for plain in ("x,y\n1,2\n", ",x\n0,1\n1,2\n"):
        assert read(file(plain)).notes == ()


def test_decimal_commas_in_the_first_line_only(file):
    table = read(file("1;2,5\n3;4\n"))
    assert table.values.tolist() == [[1.0, 2.5], [3.0, 4.0]]
    assert table.notes == ("Commas were read as decimal points.",)
    assert read(file("x;y, in m\n3;4\n")).names == ("x", "y, in m")
