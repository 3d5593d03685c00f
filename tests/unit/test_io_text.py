"""Text tables: delimiters, headers, missing values, and messages that name line and column."""

import numpy as np
import pytest

from vbdm.errors import InputError
from vbdm.io import read


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
        ("x,y\n1,2\n3,four\n", ["'four'", "line 3", "column 'y'", "--columns x"]),
        ("# c\n\nx y\n1 2\n\n3 ?\n", ["'?'", "line 6", "column 'y'"]),
        ("x;y\n1,5;2\n", ["'1,5'", "line 2", "Decimal commas"]),
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
    with pytest.raises(InputError, match="UTF-8"):
        read(file("x,µ\n1,2\n", encoding="latin-1"))
    # Deep inside, where a first look does not reach.
    with pytest.raises(InputError, match="UTF-8"):
        read(file("x,y\n" + "1,2\n" * 50_000 + "1,µ\n", encoding="latin-1"))


def test_exact_digits(file):
    values = np.random.default_rng(0).standard_normal((50, 2))
    text = "\n".join(f"{a!r},{b!r}" for a, b in values.tolist())
    np.testing.assert_array_equal(read(file(text)).values, values)
    # The patient reader, too.
    np.testing.assert_array_equal(read(file(text + "\nNA,NA")).values[:-1], values)
