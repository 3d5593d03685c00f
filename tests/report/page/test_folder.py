"""The page as users meet it: at the end of ``vbdm fit``.

``VBDM_PAGE=some/report.html`` looks at a page of your own instead.
"""

import os
from pathlib import Path

from tests.support.commands import done, write_csv

import vbdm

CANVASES = ["spectrum", "left", "right", "paths", "moved", "density"]


def test_a_table_becomes_a_page(visit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = os.environ.get("VBDM_PAGE")
    if given is None:
        write_csv("cloud.csv", vbdm.datasets.ou(1000, dim=2, random_state=0).points, "x,y")
        done("fit", "cloud.csv", "-O", "generator", "-n", 5, "--no-figures")
    seen = visit(Path(given or "cloud-vbdm/report.html").read_text("utf-8"))
    assert all(seen.colours(name) > 4 for name in CANVASES)
    before = {name: seen.picture(name) for name in CANVASES}
    slider = seen.tab.locator("#epsilon")
    slider.focus()
    slider.press("ArrowLeft")
    assert seen.picture("paths") != before["paths"]
    assert seen.picture("moved") != before["moved"]
    seen.tab.locator('tr[data-mode="2"] td.value').click()
    assert seen.picture("left") != before["left"]
    seen.tab.locator("#colour").select_option("density")
    assert "coloured by" in seen.tab.locator("#left").get_attribute("aria-label")


def test_questions_add_sections(visit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv("cloud.csv", vbdm.datasets.ou(400, dim=2, random_state=0).points, "x,y")
    done("fit", "cloud.csv", "-O", "generator", "-n", 4, "--no-figures", "--no-sensitivity")
    for command in ("committor", "rates"):
        done(command, "cloud-vbdm", "--from", "x < -1", "--to", "x > 1", "-q")
    for width in (1100, 380):
        seen = visit(Path("cloud-vbdm/report.html").read_text("utf-8"), width=width)
        picture = seen.tab.locator("#answer-committor img")
        assert picture.evaluate("image => image.naturalWidth") > 400
        assert picture.bounding_box()["width"] <= width
        assert "rate from A to B" in seen.text("#answer-rates table")
        assert seen.tab.evaluate("document.documentElement.scrollWidth") <= width
    # The committor is a colour of the points, too.
    before = seen.picture("left")
    seen.tab.locator("#colour").select_option(label="committor")
    assert seen.picture("left") != before
    assert "coloured by committor" in seen.tab.locator("#left").get_attribute("aria-label")
