"""Rooms say how far they are, and only to whoever listens."""

import io
import re

import pytest

import vbdm
from vbdm.progress import Bar, Progress, listening, report


def test_every_long_room_reports():
    seen = []
    with listening(seen.append):
        op = vbdm.estimate_operator(vbdm.datasets.sphere(3000, random_state=0).points)
        op.spectrum(4)
    rooms = {progress.room for progress in seen}
    assert rooms == {"neighbours", "density", "pairs", "kernel", "eigenpairs"}
    for room in ("neighbours", "pairs", "kernel"):
        last = [progress for progress in seen if progress.room == room][-1]
        assert last.share == 1.0
    assert "error" in [progress for progress in seen if progress.room == "eigenpairs"][-1].note


def test_nobody_listens_afterwards():
    seen = []
    with listening(seen.append):
        report("room", 1, 2)
    report("room", 2, 2)
    assert seen == [Progress("room", 1, 2)]


def test_a_listener_that_raises_stops_the_work():
    def impatient(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(impatient):
        vbdm.neighbors(vbdm.datasets.sphere(100, random_state=0).points)


def test_the_bar_waits_then_draws_one_line_per_room():
    stream = io.StringIO()
    quiet = Bar(stream=stream)
    quiet(Progress("neighbours", 1, 2))
    quiet.close()
    assert stream.getvalue() == ""
    bar = Bar(patience=0.0, stream=stream)
    bar(Progress("neighbours", 1, 2))
    bar(Progress("eigenpairs", 3, note="error 1e-04"))
    bar.close()
    text = stream.getvalue()
    assert " 50%" in text
    assert "step 3" in text
    assert "error 1e-04" in text
    assert text.count("\n") == 2


def test_the_logger_hears_of_stages_and_results(caplog):
    with caplog.at_level("INFO", logger="vbdm"):
        vbdm.estimate_operator(vbdm.datasets.sphere(3000, random_state=0).points).spectrum(3)
    said = [record.getMessage() for record in caplog.records]
    assert {record.name for record in caplog.records} == {"vbdm"}
    assert {record.levelname for record in caplog.records} == {"INFO"}
    assert "neighbours …" in said
    assert any(re.fullmatch(r"neighbours: \d+\.\d s", words) for words in said)
    assert any(words.startswith("Operator(3000 points") for words in said)
    assert any(words.startswith("Spectrum(") for words in said)


def test_the_logger_is_silent_unless_it_is_asked(caplog, capsys):
    vbdm.neighbors(vbdm.datasets.sphere(500, random_state=0).points)
    assert not caplog.records
    assert capsys.readouterr() == ("", "")
