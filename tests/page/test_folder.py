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
