"""Colours and axes of what a file says about its rows; modes as time series; words; paper."""

import functools

import numpy as np

import vbdm
from vbdm.report import page

EVIL = '</script><img src=x onerror="1">'
N = 300


def walk():
    """A slow turn around a circle, thickened: rows are steps in time."""
    t = 12 * np.pi * np.arange(N) / N
    rng = np.random.default_rng(4100)
    return np.c_[np.cos(t), np.sin(t), 0.1 * rng.normal(size=(N, 2))]


@functools.cache
def text(timed=True):
    spectrum = vbdm.estimate_operator(walk()).spectrum(5)
    days = np.datetime64("2001-03-01") + np.arange(N) * np.timedelta64(5, "D")
    many = [f"kind {i % 14}" for i in range(N)]
    about = {"species": np.array(["a", "b", EVIL])[np.arange(N) % 3], "many": many,
             "weight": np.arange(N) ** 2 % 17}  # fmt: skip
    return page(spectrum, about_rows=about | ({"date": days} if timed else {}), unit="Å")


def labels_of(seen, chooser):
    return seen.tab.locator(f"{chooser} option").all_inner_texts()


def test_everything_about_the_rows_is_a_colour(visit):
    seen = visit(text())
    offered = labels_of(seen, "#colour")
    wanted = {"species", "many", "weight", "date", "row number", "column 0", "principal axis 1"}
    assert wanted <= set(offered)
    pictures = {seen.picture("left")}
    for name in ("species", "weight", "date", "row number", "column 1"):
        seen.tab.locator("#colour").select_option(label=name)
        label = seen.tab.locator("#left").get_attribute("aria-label")
        assert label.endswith(f"coloured by {name}")
        pictures.add(seen.picture("left"))
    # Dates and rows are in the same order, and have the same colours.
    assert len(pictures) == 5


def test_labels_have_a_legend_and_rare_ones_share_a_colour(visit):
    seen = visit(text())
    names = "#legend-names li"
    assert not seen.tab.locator("#legend-names").is_visible()
    seen.tab.locator("#colour").select_option(label="species")
    assert seen.tab.locator(names).all_inner_texts() == ["a", "b", EVIL]
    assert not seen.tab.locator("#legend").is_visible()
    seen.tab.locator("#colour").select_option(label="many")
    told = seen.tab.locator(names).all_inner_texts()
    assert len(told) == 11
    assert told[-1] == "4 others"
    seen.tab.locator("#colour").select_option("function")
    assert seen.tab.locator("#legend").is_visible()


def test_rows_times_and_labels_are_axes(visit):
    seen = visit(text())
    for name in ("date", "row number", "species", "weight"):
        before = seen.picture("left")
        seen.tab.get_by_label("left picture, axis x").select_option(label=name)
        assert seen.picture("left") != before
        assert f"points along {name}," in seen.tab.locator("#left").get_attribute("aria-label")


def test_pointing_tells_labels_and_dates(visit):
    seen = visit(text())
    seen.tab.locator("#left").scroll_into_view_if_needed()
    box = seen.tab.locator("#left").bounding_box()
    for step in range(8, 48):
        seen.tab.mouse.move(box["x"] + box["width"] * step / 50, box["y"] + box["height"] / 2)
        if seen.text("#point-words").startswith("row"):
            break
    words = seen.text("#point-words")
    assert "species: " in words
    assert "date: 200" in words


def test_modes_are_time_series_where_rows_are(visit):
    seen = visit(text())
    assert seen.tab.locator("#series").is_visible()
    told = seen.tab.locator("#series").get_attribute("aria-label")
    assert "against date, 2001-03-01 to 2005" in told
    before = seen.picture("series")
    seen.tab.locator('tr[data-mode="3"] td.value').click()
    assert seen.picture("series") != before
    # Without times the rows look like a series here, and on a random sphere they do not.
    rows = visit(text(timed=False))
    assert "against row number" in rows.tab.locator("#series").get_attribute("aria-label")
    sphere = vbdm.estimate_operator(vbdm.datasets.sphere(300, random_state=0).points).spectrum(4)
    assert not visit(page(sphere)).tab.locator("#series").is_visible()


def test_terms_lead_to_the_glossary_by_pointer_and_by_keys(visit):
    seen = visit(text())
    term = seen.tab.locator(".facts a.term", has_text="Kernel width")
    term.focus()
    assert seen.tab.locator("#tip").is_visible()
    assert "wider where points are sparse" in seen.text("#tip")
    term.press("Enter")
    assert seen.tab.locator("#term-kernel-width").is_visible()
    lost = seen.tab.evaluate(
        """() => [...document.querySelectorAll("a.term")]
          .filter((a) => !document.querySelector(a.getAttribute("href"))).length"""
    )
    assert lost == 0


def test_no_greek_letter_is_made_a_capital(visit):
    spectrum = vbdm.estimate_operator(walk()[:, :2]).spectrum(4)
    scan = vbdm.scan_epsilon(spectrum, factors=(0.5, 1, 2), n_drawn=100)
    seen = visit(page(spectrum, scan=scan))
    for mode in range(4):
        seen.tab.locator(f'tr[data-mode="{mode}"] td.value').click()
        assert "Λ" not in seen.text("main")


def test_a_long_cloud_fills_its_picture(visit):
    """Three directions of unequal length: the longest takes most of the width."""
    points = np.random.default_rng(4100).uniform(-1, 1, (400, 3)) * [5, 1.5, 1]
    seen = visit(page(vbdm.estimate_operator(points).spectrum(3)))
    share = seen.tab.evaluate(
        """() => {
          const c = document.getElementById("left"), w = c.width, h = c.height;
          const d = c.getContext("2d").getImageData(0, 0, w, h).data, seen = [];
          for (let x = 0; x < w; x++) for (let y = 0; y < h; y++) {
            const [r, g, b, a] = [0, 1, 2, 3].map((k) => d[4 * (y * w + x) + k]);
            if (a > 200 && Math.max(r, g, b) - Math.min(r, g, b) > 60) { seen.push(x); break; }
          }
          return (Math.max(...seen) - Math.min(...seen)) / w;
        }"""
    )
    assert share > 0.75


def test_a_phone_shows_the_whole_table_and_no_empty_tile(visit):
    spectrum = vbdm.estimate_operator(vbdm.datasets.sphere(400, random_state=0).points).spectrum(14)
    seen = visit(page(spectrum), width=390)
    hidden = seen.tab.evaluate(
        """() => {
          const s = document.querySelector(".scroll.more");
          return s.scrollHeight - s.clientHeight;
        }"""
    )
    assert hidden <= 1
    tiles = seen.tab.locator(".facts .fact").evaluate_all(
        "all => all.reduce((sum, e) => sum + e.offsetWidth * e.offsetHeight, 0)"
    )
    whole = seen.tab.evaluate(
        """() => {
          const f = document.querySelector(".facts");
          return f.offsetWidth * f.offsetHeight;
        }"""
    )
    assert tiles > 0.97 * whole


def test_paper_keeps_the_shape_of_pictures(visit):
    """A printer lays out anew what was drawn for the screen; a window is drawn anew."""
    seen = visit(text())
    seen.tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    seen.tab.emulate_media(media="print")
    for resize in (False, True):
        if resize:
            seen.tab.set_viewport_size({"width": 680, "height": 900})
        shapes = seen.tab.evaluate(
            """() => [...document.querySelectorAll("canvas")].filter((c) => c.clientWidth)
              .map((c) => [c.id, c.clientWidth / c.clientHeight / (c.width / c.height)])"""
        )
        assert len(shapes) > 5
        assert all(abs(shape - 1) < 0.02 for _, shape in shapes), shapes
    assert seen.tab.locator("#error-parts table").is_visible()
    seen.tab.emulate_media(media="screen")
    seen.tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not seen.tab.locator("#error-parts table").is_visible()
