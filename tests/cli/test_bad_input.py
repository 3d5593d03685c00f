"""Every mistake on the command line: an exit code, a message, and nothing lost."""

import errno
import json
import os
import re
import shlex
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import FAST, snapshot, vbdm_command

import vbdm

RNG = np.random.default_rng(0)
CLOUD = RNG.standard_normal((150, 2))


def text(name, content):
    return lambda: Path(name).write_text(content)


def table(name, values, header="x,y"):
    def make():
        np.savetxt(name, values, delimiter=",", header=header, comments="")

    return make


def array(name, values):
    return lambda: np.save(name, values)


def arrays(name, **values):
    return lambda: np.savez(name, **values)


def replaced(row, column, value):
    changed = CLOUD.copy()
    changed[row, column] = value
    return changed


def cut(name, size):
    """Cut a file of good points off."""

    def make():
        np.save("whole.npy", CLOUD)
        Path(name).write_bytes(Path("whole.npy").read_bytes()[:size])

    return make


def cut_model():
    model = Path("good/model.vbdm").read_bytes()
    Path("cut.vbdm").write_bytes(model[: len(model) // 2])


def foreign_folder():
    Path("mine").mkdir()
    Path("mine/thesis.tex").write_text("ten years of work")


def foreign_json():
    Path("mine").mkdir()
    Path("mine/results.json").write_text('{"format": "theirs"}')


def random_zip():
    with zipfile.ZipFile("other.vbdm", "w") as archive:
        archive.writestr("readme.txt", "hello")


def graph_file():
    vbdm.save(vbdm.neighbors(CLOUD, 5), "graph.vbdm")


def broken_results(name, content):
    def make():
        shutil.copytree("good", "broken")
        Path("broken", name).write_bytes(content)

    return make


def newer_results():
    shutil.copytree("good", "broken")
    summary = json.loads(Path("broken/results.json").read_text())
    Path("broken/results.json").write_text(json.dumps({**summary, "version": 99}))


def without_arrays():
    shutil.copytree("good", "broken")
    Path("broken/results.npz").unlink()


def graph_for_a_model():
    shutil.copytree("good", "broken")
    vbdm.save(vbdm.neighbors(CLOUD, 5), "broken/model.vbdm")


def nothing():
    pass


def run(line):
    """Run a command line; `fit` without what takes long."""
    words = shlex.split(line)
    return vbdm_command(*words, *(FAST if words[0] == "fit" and len(words) > 1 else ()))


def model_beside():
    Path("model.vbdm").write_bytes(Path("good/model.vbdm").read_bytes())


#: name: what to make, the command line, words of the message; the exit code of all is 2.
BAD = {
    # The file.
    "missing file": (nothing, "fit nowhere.csv", "does not exist"),
    "empty file": (text("a.csv", ""), "fit a.csv", "is empty"),
    "only a header": (text("a.csv", "x,y\n"), "fit a.csv", "no points|[nN]o rows|no numbers|empty"),
    "text in a column": (
        text("a.csv", "x,y\n1,2\n3,four\n5,6\n"),
        "fit a.csv", "four.*line 3|line 3.*four",
    ),
    "ragged": (text("a.csv", "x,y\n1,2\n3\n5,6\n"), "fit a.csv", "[Ll]ine 3"),
    "huge header": (text("a.csv", "x" * 3_000_000), "fit a.csv", "a.csv|line 1|Line 1"),
    "binary in disguise": (
        lambda: Path("a.csv").write_bytes(bytes(range(256)) * 40),
        "fit a.csv", "text",
    ),
    "missing values": (table("a.csv", replaced(7, 1, np.nan)), "fit a.csv", "--drop-missing"),
    "infinite value": (table("a.csv", replaced(7, 1, np.inf)), "fit a.csv", "infinit"),
    "infinite value, dropping": (
        table("a.csv", replaced(7, 1, np.inf)),
        "fit a.csv --drop-missing", "infinit",
    ),
    "all rows missing": (table("a.csv", CLOUD * np.nan), "fit a.csv --drop-missing", "missing"),
    "array cut in the data": (cut("a.npy", 700), "fit a.npy", "a.npy"),
    "array cut in the header": (cut("a.npy", 40), "fit a.npy", "a.npy"),
    "not an array": (text("a.npy", "hello"), "fit a.npy", "a.npy"),
    "objects": (arrays("a.npz", a=np.array([{}, []], dtype=object)), "fit a.npz", "objects"),
    "wrong key": (arrays("a.npz", a=CLOUD, b=CLOUD), "fit a.npz --key c", "a.*b"),
    "no key": (arrays("a.npz", a=CLOUD, b=CLOUD), "fit a.npz", "--key"),
    "three dimensions": (array("a.npy", CLOUD.reshape(10, 15, 2)), "fit a.npy", r"\(10, 15, 2\)"),
    "complex": (array("a.npy", CLOUD * 1j), "fit a.npy", "complex"),
    "words": (array("a.npy", np.array([["a", "b"], ["c", "d"]])), "fit a.npy", "text"),
    "unknown format": (text("a.xyz", "1 2"), "fit a.xyz", "--format"),
    "unknown format by name": (text("a.csv", "1,2"), "fit a.csv --format excel", "excel"),
    "row numbers": (
        table("a.csv", np.column_stack([np.arange(150), CLOUD]), ",x,y"),
        "fit a.csv", "'x0'.*--columns x,y; ",
    ),
    "row numbers without a name": (
        array("a.npy", np.column_stack([CLOUD, np.arange(150)])),
        "fit a.npy", "'x2'.*--columns x0,x1; ",
    ),
    "row numbers, tuning": (
        table("a.csv", np.column_stack([np.arange(150), CLOUD]), "id,x,y"),
        "tune a.csv", "'id'.*--columns x,y; ",
    ),
    "truth values": (text("a.csv", "x,y\nTrue,True\nTrue,False\n"), "fit a.csv", "True and False"),
    "decimal commas or two columns": (
        text("a.csv", "0,6520\n0,0712\n"),
        "fit a.csv", "two ways.*--no-header",
    ),
    "commas and points": (
        text("a.csv", "x;y\n" + "1,5;2,5\n" * 300 + "1.250;3,5\n"),
        "fit a.csv", "line 302.*thousands",
    ),
    "letters of another encoding": (
        lambda: Path("a.csv").write_bytes("x,µ\n1,2\n".encode("latin-1")),
        "fit a.csv", "CSV UTF-8",
    ),
    "no key, one table": (
        arrays("a.npz", a=CLOUD[0], b=CLOUD, c=CLOUD[0]),
        "fit a.npz", "--key b",
    ),
    "transposed": (
        table("a.csv", RNG.standard_normal((2, 60)), ""),
        "fit a.csv", "note: 2 rows and 60 columns: is the table transposed",
    ),
    "folder as input": (lambda: Path("a.csv").mkdir(), "fit a.csv", "folder"),
    # The choice of columns and rows.
    "missing column": (nothing, "fit data.csv --columns x,z", "'z'"),
    "empty choice of columns": (nothing, "fit data.csv --columns ''", "column"),
    "column number": (nothing, "fit data.csv --columns 0,7", "7"),
    "negative delays": (nothing, "fit data.csv --delays -2", "delays"),
    "delays longer than the data": (nothing, "fit data.csv --delays 500", "fewer rows"),
    "share of the variance in words": (
        nothing,
        "fit data.csv --pca most", "'most' is no number. Write 3 for three directions",
    ),
    "nothing drawn": (nothing, "fit data.csv --subsample 0", "subsample"),
    "swapped": (nothing, "transform data.csv good", "The model comes first.*transform good data"),
    "swapped, with a model": (
        model_beside,
        "transform data.csv model.vbdm", "The model comes first",
    ),
    "two models": (nothing, "transform good good", "format of the file"),
    "names in one file only": (
        array("a.npy", np.c_[CLOUD, CLOUD]),
        "transform good a.npy", "only one of the two files has names.*--columns",
    ),
    "no AnnData": (nothing, "fit data.csv --write-anndata", "AnnData"),
    # The points.
    "one row": (table("a.csv", CLOUD[:1]), "fit a.csv", "two points|one point|1 row"),
    "two rows": (table("a.csv", CLOUD[:2]), "fit a.csv", "dimension cannot be estimated"),
    "all points equal": (
        table("a.csv", np.ones((30, 2))),
        "fit a.csv", "All points are the same",
    ),
    "huge numbers": (table("a.csv", CLOUD * 1e200), "fit a.csv", "too far apart"),
    "distances that are none": (
        array("a.npy", CLOUD),
        "fit a.npy --metric precomputed", "square",
    ),
    # The settings.
    "negative epsilon": (nothing, "fit data.csv --epsilon -1", "epsilon.*a number above 0"),
    "epsilon in words": (nothing, "fit data.csv --epsilon small", "not a valid float"),
    "absurd epsilon": (nothing, "fit data.csv --epsilon 1e-300", "No two points are joined"),
    "absurd operator": (nothing, "fit data.csv -O 1e9", "Powers of the density overflow"),
    "periodic, standardized": (
        nothing, "fit data.csv --period 6.3 --standardize", "[Pp]eriod"
    ),
    "nan epsilon": (nothing, "fit data.csv --epsilon nan", "epsilon"),
    "too many neighbours": (nothing, "fit data.csv -k 5000", "from 2 to 150"),
    "unknown operator": (nothing, "fit data.csv -O laplace", "'laplacian', 'generator'"),
    "unknown method": (nothing, "fit data.csv --method mine", "resolved"),
    "unknown metric": (nothing, "fit data.csv --metric crow", "crow"),
    "unknown engine": (nothing, "fit data.csv --search google", "kd-tree"),
    "period in words": (nothing, "fit data.csv --period day", "list of numbers"),
    "too many periods": (nothing, "fit data.csv --period 1,2,3", "period"),
    "too many eigenpairs": (nothing, "fit data.csv -n 5000", "from 1 to 150"),
    "no eigenpairs": (nothing, "fit data.csv -n 0", "from 1 to 150"),
    "absurd effort": (nothing, "fit data.csv --effort 1000", "from 0.25 to 16"),
    "unknown option": (nothing, "fit data.csv --colour red", "--colour"),
    "unknown command": (nothing, "guess data.csv", "guess"),
    "no file at all": (nothing, "fit", "FILE"),
    # Where the results should go.
    "existing results": (nothing, "fit data.csv -o good", "--force"),
    "foreign folder": (foreign_folder, "fit data.csv -o mine", "not a results folder"),
    "foreign folder by force": (
        foreign_folder,
        "fit data.csv -o mine --force", "will not be replaced",
    ),
    "foreign summary by force": (
        foreign_json,
        "fit data.csv -o mine --force", "will not be replaced",
    ),
    "out is a file": (nothing, "fit data.csv -o data.csv --force", "is a file"),
    "out is here": (nothing, "fit data.csv -o . --force", "inside it"),
    "out in no folder": (nothing, "fit data.csv -o no/where", "no folder that exists"),
    # Models and folders.
    "no model": (nothing, "transform nothing.vbdm data.csv", "nothing.vbdm"),
    "model is text": (nothing, "transform data.csv data.csv", "not a result saved by vbdm"),
    "model is an image": (
        lambda: Path("a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99)),
        "transform a.png data.csv", "not a result",
    ),
    "model is an archive": (random_zip, "transform other.vbdm data.csv", "another kind"),
    "model cut off": (cut_model, "transform cut.vbdm data.csv", "not a result saved by vbdm"),
    "model without functions": (graph_file, "transform graph.vbdm data.csv", "no eigenfunctions"),
    "model in a foreign folder": (
        foreign_folder,
        "transform mine data.csv", "not a results folder",
    ),
    "other columns": (
        table("b.csv", RNG.standard_normal((5, 3)), "a,b,c"),
        "transform good b.csv", "2 column",
    ),
    "too few columns": (array("b.npy", CLOUD[:, :1]), "transform good b.npy", "2 column"),
    "output exists": (nothing, "transform good data.csv -o kept.csv", "--force"),
    "output of unknown kind": (nothing, "transform good data.csv -o a.xls", ".npz"),
    "points outside": (
        table("b.csv", CLOUD + 100),
        "transform good b.csv --outside error", "outside the data",
    ),
    "report on a file": (nothing, "report data.csv", "which is a file"),
    "report on nothing": (nothing, "report nothing", "does not exist"),
    "report on broken numbers": (
        broken_results("results.npz", b"PK\3\4no"),
        "report broken", "results.npz",
    ),
    "report on broken words": (
        broken_results("results.json", b"{"),
        "report broken", "results.json",
    ),
    "report on words of another program": (
        broken_results("results.json", b'{"format": "theirs"}'),
        "report broken", "results.json was written by another program",
    ),
    "report without numbers": (without_arrays, "report broken", "results.npz is missing"),
    "report on another model": (
        graph_for_a_model,
        "report broken", "damaged.*model.vbdm holds no spectrum",
    ),
    "report on newer results": (newer_results, "report broken", "newer version"),
    "plot of a missing mode": (
        nothing,
        "plot good --what embedding --which 1,99", "99|eigenfunction",
    ),
    "plot of words": (nothing, "plot good --what embedding --which one", "list of numbers"),
    "numbers of a picture that has none": (
        nothing,
        "plot good --what density --which 1", "only eigenfunctions and embedding have numbers",
    ),
    "plot into nowhere": (nothing, "plot good -o no/where.png", "folder"),
    "cite a table": (nothing, "cite data.csv", "not a result saved by vbdm"),
    "methods of nothing": (nothing, "cite --methods", "folder"),
    "tune into a foreign format": (nothing, "tune data.csv -o curve.xls", ".csv"),
    "demo into a foreign folder": (foreign_folder, "demo -o mine", "not a results folder"),
    "demo into other results": (nothing, "demo -o good", "earlier results"),
}  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Make a folder with good data, good results, and a file that must not be lost."""
    folder = tmp_path_factory.mktemp("finished")
    np.savetxt(folder / "data.csv", CLOUD, delimiter=",", header="x,y", comments="")
    (folder / "kept.csv").write_text("precious")
    result = vbdm_command("fit", folder / "data.csv", "-o", folder / "good", "-n", 4, *FAST)
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def workspace(finished, tmp_path, monkeypatch):
    """Work in a copy of it."""
    place = tmp_path / "work"
    shutil.copytree(finished, place)
    monkeypatch.chdir(place)
    return place


def assert_refused(result, code, words, before, place):
    message = " ".join(result.stderr.split())
    assert result.exit_code == code, (result.exit_code, message, result.exception)
    assert re.search(words, message), message
    assert "Traceback" not in result.output
    assert result.stdout == ""
    assert snapshot(place) == before


@pytest.mark.parametrize("name", BAD)
def test_wrong_use_and_input(name, workspace):
    make, line, words = BAD[name]
    make()
    before = snapshot(workspace)
    assert_refused(run(line), 2, words, before, workspace)


def test_what_is_odd_in_a_file_is_said(workspace):
    odd = CLOUD.copy()
    odd[10:14, 1] = -999
    table("odd.csv", odd)()
    result = run("fit odd.csv -o odd -n 3 --subsample 1000")
    assert result.exit_code == 0, result.output
    notes = [
        "All 150 points were taken: there are fewer than 1,000.",
        "4 rows hold exactly -999 in y: a code for missing values?",
    ]
    warnings = [w["text"] for w in json.loads(Path("odd/results.json").read_text())["warnings"]]
    assert warnings[:2] == notes
    assert all(f"note: {note}" in result.stderr for note in notes)


def test_rows_left_out_are_said_for_new_points_too(workspace):
    table("gaps.csv", replaced(7, 1, np.nan))()
    result = run("transform good gaps.csv --drop-missing")
    assert result.exit_code == 0, result.output
    assert "note: 1 of 150 rows has missing values and was left out." in result.stderr
    assert len(np.load("gaps-vbdm.npz")["rows"]) == 149


# --- What the machine does to us, simulated ------------------------------------------------------


def failing(error, after, once):
    """Return a function that works `after` times, then fails: once, or from then on."""
    calls = []

    def fail(*arguments, **settings):
        calls.append(arguments)
        if len(calls) == after + 1 or (len(calls) > after and not once):
            raise error
        return fail.original(*arguments, **settings)

    return fail


#: Where a run can be stopped: what is replaced, and how often it works before it fails.
STAGES = {
    "reading": ("vbdm.io.read", 0),
    "estimating": ("vbdm.estimate.estimate_operator", 0),
    "solving": ("vbdm.spectrum.solve.compute_spectrum", 0),
    "sensitivity": ("vbdm.estimate.scan_epsilon", 0),
    "making the folder": ("pathlib.Path.mkdir", 1),
    "drawing": ("vbdm.results.writing.save_picture", 0),
    "writing the page": ("vbdm.results.writing.write_report", 0),
    "saving the model": ("vbdm.results.writing.save", 0),
    "saving an array of the model": ("vbdm.io.saved.archive.np.lib.format.write_array", 3),
    "saving the arrays": ("vbdm.results.writing.write_arrays", 0),
    "saving the summary": ("pathlib.Path.write_text", 0),
    "bringing it to the disk": ("os.fsync", 1),
    "moving the old folder": ("os.rename", 0),
    "moving the new folder": ("os.rename", 1),
}


def break_at(stage, error, monkeypatch):
    target, after = STAGES[stage]
    module, name = target.rsplit(".", 1)
    # A name that was taken away can be given back.
    fail = failing(error, after, once=target == "os.rename")
    parts = module.split(".")
    # The longest part that is a module; what follows are attributes.
    owner = __import__(parts[0])
    for part in parts[1:]:
        owner = getattr(owner, part, None) or __import__(f"{owner.__name__}.{part}", fromlist=["_"])
    fail.original = getattr(owner, name)
    # Methods need their object, plain functions do not.
    replacement = fail if not isinstance(owner, type) else lambda self, *a, **k: fail(self, *a, **k)
    monkeypatch.setattr(owner, name, replacement)


def whole_fit():
    """Replace the results with everything there is, but for the real page, which takes long."""
    return vbdm_command("fit", "data.csv", "-o", "good", "--force", "-n", 3)


@pytest.fixture
def quick(monkeypatch):
    """Make the page and the sensitivity cheap: it is not they that are tested here."""
    import vbdm.results.writing as figures

    monkeypatch.setattr("vbdm.estimate.scan_epsilon", lambda spectrum: None)
    page = lambda path, *arguments, **settings: path.write_bytes(b"<html>")  # noqa: E731
    monkeypatch.setattr("vbdm.results.writing.write_report", page)
    draw = lambda draw, path: path.write_bytes(b"PNG")  # noqa: E731
    monkeypatch.setattr(figures, "save_picture", draw)


WRITING = [name for name in STAGES if list(STAGES).index(name) >= 4]


@pytest.mark.parametrize("stage", WRITING)
def test_a_full_disk(stage, workspace, quick, monkeypatch):
    before = snapshot(workspace)
    break_at(stage, OSError(errno.ENOSPC, "No space left on device"), monkeypatch)
    result = whole_fit()
    monkeypatch.undo()
    assert_refused(result, 1, "disk is full.*earlier results are as they were", before, workspace)


@pytest.mark.parametrize("stage", STAGES)
def test_control_c(stage, workspace, quick, monkeypatch):
    before = snapshot(workspace)
    break_at(stage, KeyboardInterrupt(), monkeypatch)
    result = whole_fit()
    monkeypatch.undo()
    assert_refused(result, 130, "Interrupted", before, workspace)


FAILURES = {
    "solver": (
        vbdm.errors.SolverError("No solver reached its tolerance."),
        1,
        "could not be computed",
    ),
    "bug": (ZeroDivisionError("division by zero"), 1, "unexpected.*VBDM_TRACEBACK=1"),
    "memory": (MemoryError(), 2, "--subsample"),
    "memory foreseen": (vbdm.errors.OutOfMemoryError("It would not fit."), 2, "would not fit"),
    "broken disk": (OSError(errno.EIO, "Input/output error"), 1, "disk failed"),
    "read-only disk": (OSError(errno.EROFS, "Read-only file system"), 2, "Read-only"),
    "missing library": (ImportError("Pictures need matplotlib"), 2, "matplotlib"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_inside(name, workspace, monkeypatch):
    error, code, words = FAILURES[name]
    before = snapshot(workspace)
    break_at("solving", error, monkeypatch)
    assert_refused(whole_fit(), code, words, before, workspace)


def test_the_traceback_is_there_for_those_who_ask(workspace, monkeypatch):
    monkeypatch.setenv("VBDM_TRACEBACK", "1")
    break_at("solving", ZeroDivisionError("division by zero"), monkeypatch)
    assert "Traceback" in whole_fit().stderr


def test_an_unreadable_file(workspace, monkeypatch):
    def refuse(*arguments):
        raise PermissionError(errno.EACCES, "Permission denied")

    before = snapshot(workspace)
    monkeypatch.setattr("vbdm.io.source.open", refuse, raising=False)
    assert_refused(run("fit data.csv"), 2, "right to read", before, workspace)


def test_an_unwritable_folder_is_found_before_the_work(workspace, monkeypatch):
    def refuse(*arguments, **settings):
        raise PermissionError(errno.EACCES, "Permission denied")

    before = snapshot(workspace)
    break_at("reading", AssertionError("this is too early"), monkeypatch)
    monkeypatch.setattr(Path, "mkdir", refuse)
    result = run("fit data.csv")
    assert_refused(result, 2, "Nothing can be written there", before, workspace)


def test_a_file_in_an_unwritable_folder_is_refused_before_the_work(workspace, monkeypatch):
    before = snapshot(workspace)
    monkeypatch.setattr("vbdm.io.saved.persistence.load", lambda *_: pytest.fail("too early"))
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
    result = run("plot good -o a.png")
    assert_refused(result, 2, "Nothing can be written to this folder", before, workspace)


def test_a_run_that_came_first_is_not_replaced(workspace, monkeypatch):
    """Two runs may pass the check before the work; the slower one is stopped at the writing."""
    estimate_operator = vbdm.estimate_operator

    def overtaken(*arguments, **settings):
        shutil.copytree("good", "data-vbdm")
        return estimate_operator(*arguments, **settings)

    monkeypatch.setattr("vbdm.estimate.estimate_operator", overtaken)
    result = run("fit data.csv")
    assert result.exit_code == 2
    assert "earlier results" in result.stderr
    assert snapshot(Path("data-vbdm")) == snapshot(Path("good"))


def test_errors_for_machines(workspace):
    result = run("fit nowhere.csv --json")
    assert result.stdout == ""
    line = json.loads(result.stderr)
    assert line["exit_code"] == 2
    assert "does not exist" in line["error"]


@pytest.mark.parametrize("line", ["plot good", "tune data.csv -o curve.csv -o curve.png"])
def test_missing_matplotlib_is_found_before_the_work(line, workspace, monkeypatch):
    def too_early(*arguments, **settings):
        pytest.fail("something was read or computed")

    monkeypatch.setattr("vbdm.results.can_draw", lambda: False)
    for name in ("vbdm.io.saved.persistence.load", "vbdm.io.read"):
        monkeypatch.setattr(name, too_early)
    before = snapshot(workspace)
    assert_refused(run(line), 2, r"pip install 'vbdm\[plot\]'", before, workspace)


def test_a_table_needs_no_matplotlib(workspace, monkeypatch):
    monkeypatch.setattr("vbdm.results.can_draw", lambda: False)
    assert run("tune data.csv -o curve.csv").exit_code == 0


HOSTILE = "x\x1b[2J\x07"


@pytest.mark.parametrize("options", ["", "--columns nosuch", "--columns y,q"])
def test_escape_sequences_in_a_file_never_reach_the_terminal(tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{x},{y},{x:.0f}\n" for x, y in CLOUD)
    Path("a.csv").write_text(f"{HOSTILE},y,q\n{lines}1,2,bad{HOSTILE}\n")
    done = run(f"fit a.csv {options}")
    assert done.exit_code == 2
    assert "\x1b[2J" not in done.output
    assert "\\x1b[2J\\x07" in done.output
