"""PLUMED's COLVAR files: names, periods, restarts, biases set aside; odd files in words."""

import numpy as np
import pytest

from vbdm.errors import InputError
from vbdm.io import formats, prepare, read

HEADER = """#! FIELDS time phi psi metad.bias metad.rbias
#! SET min_phi -pi
#! SET max_phi pi
#! SET min_psi 0
#! SET max_psi 2*pi
"""
LINES = [" 0.0 -1.2 1.0 0.0 -1.0\n", " 1.0 -1.1 1.1 0.5 -0.5\n", " 2.0 -1.0 1.2 0.75 0.25\n"]


def written(tmp_path, text, name="COLVAR"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["COLVAR", "COLVAR.0", "colvar.dat", "run.colvar", "bias.txt"])
def test_it_is_known_by_its_first_line(tmp_path, name):
    table = read(written(tmp_path, HEADER + "".join(LINES), name))
    assert table.source.format == "plumed"
    assert table.names == ("phi", "psi")
    assert table.values.tolist() == [[-1.2, 1.0], [-1.1, 1.1], [-1.0, 1.2]]
    np.testing.assert_allclose(table.period, 2 * np.pi)
    assert table.about_rows.times.tolist() == [0, 1, 2]
    assert table.about_rows.numbers["metad.rbias"].tolist() == [-1, -0.5, 0.25]
    assert any("metad.bias" in note for note in table.notes)


def test_columns_can_be_chosen(tmp_path):
    path = written(tmp_path, HEADER + "".join(LINES))
    table = read(path, columns="metad.rbias,psi")
    assert table.values.tolist() == [[-1, 1], [-0.5, 1.1], [0.25, 1.2]]
    assert table.period == (None, pytest.approx(2 * np.pi))
    with pytest.raises(InputError, match=r"no such column.*metad\.rbias"):
        read(path, columns="metad.rbia")


def test_restarts_repeat_the_header(tmp_path):
    table = read(written(tmp_path, HEADER + "".join(LINES[:2]) + HEADER + "".join(LINES[1:])))
    assert len(table.values) == 4
    assert not any("goes back" in note for note in table.notes)
    again = read(written(tmp_path, HEADER + "".join(LINES) + HEADER + "".join(LINES)))
    assert any("goes back once" in note and "`lengths`" in note for note in again.notes)


def test_missing_numbers_are_dropped_and_infinite_ones_refused(tmp_path):
    table = read(written(tmp_path, HEADER + "".join(LINES) + " 3.0 nan -nan 0 0\n" + LINES[0]))
    cloud, _ = prepare(table, missing="drop")
    assert cloud.rows.tolist() == [0, 1, 2, 4]
    table = read(written(tmp_path, HEADER + "".join(LINES) + " 3.0 inf 1 0 0\n"))
    with pytest.raises(InputError, match=r"infinity in column.*phi, first in row 3"):
        prepare(table)


ODD = {
    "other columns after a restart": (
        HEADER + LINES[0] + "#! FIELDS time phi\n 1.0 2.0\n",
        "columns change within the file.*line 7",
    ),
    "a line cut off": (HEADER + LINES[0] + " 1.0 2.0", "line 7 with 2 cell.*5 are expected"),
    "no numbers": (HEADER, "no lines of numbers"),
    "no columns": ("#! FIELDS\n", "does not name its columns"),
    "one end": (HEADER.replace("#! SET max_phi pi\n", "") + LINES[0], "periodic column.*max_phi"),
    "ends of words": (HEADER.replace("-pi", "left") + LINES[0], "min_phi left and max_phi pi"),
    "ends the wrong way": (HEADER.replace("-pi", "4") + LINES[0], "min_phi 4 and max_phi pi"),
    "nothing but time": ("#! FIELDS time m.bias\n 0 1\n", "No column .* is a coordinate"),
    "words": (HEADER + LINES[0] + " 1.0 high 1 0 0\n", "high"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_files_are_refused_in_words(tmp_path, name):
    text, words = ODD[name]
    with pytest.raises(InputError, match=words):
        read(written(tmp_path, text))


def test_letters_of_another_encoding_are_told_wherever_they_are(tmp_path):
    text = HEADER + LINES[0] * 3000 + "# 0.2 µs\n"
    (tmp_path / "COLVAR").write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"not in UTF-8.*0xb5"):
        read(tmp_path / "COLVAR")


def test_a_line_without_an_end_is_not_read_to_it(tmp_path, monkeypatch):
    monkeypatch.setattr("vbdm.io.plumed.LONGEST_LINE", 100)
    with pytest.raises(InputError, match="a line of more than 100 characters"):
        read(written(tmp_path, HEADER + LINES[0] + "1 " * 60))


def test_only_files_without_another_suffix_are_looked_into(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((3, 2)))
    assert read(tmp_path / "a.npy").source.format == "npy"
    with pytest.raises(InputError, match="not known by its name"):
        read(written(tmp_path, "1 2\n3 4\n", "COLVAR"))
    assert "plumed" in {kind.name for kind in formats()}
