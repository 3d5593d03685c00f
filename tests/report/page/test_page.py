"""The page in a real browser: it draws, it answers, it is quiet, it fits on a phone."""

import functools

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from tests.support.estimates import estimate_with

import vbdm
from vbdm import scan_epsilon
from vbdm.report import page
from vbdm.report._tables import style_of

STILL = ["spectrum", "legend", "left", "right", "density", "degrees", "slopes"]
EVIL = "</script><img src=x onerror=\"document.title='broken'\">"


def blobs():
    first, second = (vbdm.datasets.ou(250, dim=2, random_state=i).points for i in range(2))
    return np.concatenate([first, second + np.array([40, 0])])


def as_distances():
    points = vbdm.datasets.circle(200, random_state=0).points
    distances = cdist(points, points)
    return csr_array(np.where(distances < 0.8, distances, 0))


CASES = {
    "sphere": (lambda: vbdm.datasets.sphere(700, random_state=0).points, {}),
    "plane": (
        lambda: vbdm.datasets.ou(800, dim=2, random_state=0).points,
        {"operator": "generator"},
    ),
    "ten columns": (lambda: vbdm.datasets.closed_curve(400, random_state=0).points, {}),
    "line": (
        lambda: vbdm.datasets.ou(500, dim=1, random_state=0).points,
        {"operator": "generator"},
    ),
    "clusters": (blobs, {"operator": "generator"}),
    "paper": (lambda: vbdm.datasets.sphere(400, random_state=0).points, {"method": "paper"}),
    "given epsilon": (lambda: vbdm.datasets.circle(300, random_state=0).points, {"epsilon": 0.01}),
    "small unit": (
        lambda: 1e4 * vbdm.datasets.ou(400, dim=2, random_state=0).points,
        {"operator": "generator"},
    ),
    "distances": (as_distances, {"metric": "precomputed"}),
    "unsymmetric": (
        lambda: vbdm.datasets.circle(200, random_state=0).points,
        {"method": "paper", "form": "left"},
    ),
}


@functools.cache
def solved(name):
    points, settings = CASES[name]
    return estimate_with(points(), **settings).spectrum(6)


@functools.cache
def text_of(name):
    found = solved(name)
    return page(found, scan=scan_epsilon(found, n_drawn=300, factors=(0.5, 1, 2)))


@pytest.mark.parametrize("name", CASES)
def test_it_draws(visit, name):
    seen = visit(text_of(name))
    for canvas in STILL:
        if seen.tab.locator(f"#{canvas}").is_visible():
            assert seen.colours(canvas) > 4, canvas
    moving = seen.tab.locator("#moving").is_visible()
    assert moving == (name not in ("distances", "unsymmetric"))
    if moving:
        assert min(seen.colours("paths"), seen.colours("moved")) > 4


def test_choosing_an_eigenvalue_changes_everything(visit):
    seen = visit(text_of("sphere"))
    watched = ["spectrum", "left", "right", "paths", "moved"]
    before = [seen.picture(name) for name in watched]
    assert "Number 1" in seen.text("#chosen-words")
    seen.tab.locator('tr[data-mode="4"] td.value').click()
    after = [seen.picture(name) for name in watched]
    assert all(a != b for a, b in zip(before, after, strict=True))
    assert "Number 4" in seen.text("#chosen-words")
    assert seen.tab.locator('tr[data-mode="4"] button').get_attribute("aria-pressed") == "true"


def test_a_group_is_told_by_its_mean(visit):
    found = solved("sphere")
    assert [group.tolist() for group in found.errors.groups] == [[0], [1, 2, 3], [4, 5]]
    seen = visit(text_of("sphere"))
    seen.tab.locator('tr[data-mode="2"] td.value').click()
    style, mean = style_of(found), found.eigenvalues[1:4].mean()
    group = found.errors.by_group[1]
    ends = f"{style.show(group.lower)} to {style.show(group.upper)}"
    error = f"{style.show(mean)} ± {style.show_error(group.total_error)} (95 %: {ends})"
    words = seen.text("#chosen-words")
    assert f"Number 2: λ = {style.show(found.eigenvalues[2])}." in words
    assert "Numbers 1 to 3 are probably one multiple eigenvalue, split by sampling" in words
    assert f"their mean is {error};" in words
    span = f"{100 * found.errors.function_of_group([1, 2, 3]):.2g} % of their size."
    assert f"The error of their eigenfunctions, as a space, is about {span}" in words
    assert seen.text("#epsilon-words").startswith("The mean of λ₁ to λ₃")
    assert "own" in seen.tab.locator('tr[data-mode="1"] .several').get_attribute("class")
    assert "own" not in seen.tab.locator('tr[data-mode="4"] .several').get_attribute("class")


RECORD = """() => {
  window.bands = 0;
  window.texts = [];
  const pen = CanvasRenderingContext2D.prototype;
  const [text, rectangle] = [pen.fillText, pen.fillRect];
  pen.fillText = function (words, x, y) {
    const place = this.getTransform(), scale = window.devicePixelRatio;
    const w = this.measureText(words).width;
    const left = { left: 0, center: w / 2, right: w }[this.textAlign];
    const corners = [x - left, x - left + w].map((u) => place.transformPoint({ x: u, y }));
    const ends = (name) => [corners[0][name] / scale, corners[1][name] / scale];
    window.texts.push({ words, canvas: this.canvas.id, x: ends("x"), y: ends("y") });
    return text.apply(this, arguments);
  };
  pen.fillRect = function () {
    if (this.canvas.id === "spectrum" && this.globalAlpha < 0.5) window.bands += 1;
    return rectangle.apply(this, arguments);
  };
  window.dispatchEvent(new Event("resize"));
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""


def drawn(seen):
    """Draw everything again, and return which texts stand where, and how many bands there are."""
    seen.tab.evaluate(RECORD)
    return seen.tab.evaluate("window.texts"), seen.tab.evaluate("window.bands")


def test_groups_have_two_bands_each(visit):
    """One for the interval of the mean, and one inside for sampling alone."""
    assert drawn(visit(text_of("sphere")))[1] == 4
    assert drawn(visit(text_of("line")))[1] == 2 * sum(
        len(g) > 1 for g in solved("line").errors.groups
    )


@pytest.mark.parametrize("width", [360, 1100])
def test_what_the_errors_consist_of_is_one_click_away(visit, width):
    groups = [group for group in solved("sphere").errors.by_group if group.mean != 0]
    seen = visit(text_of("sphere"), width=width)
    table = seen.tab.locator("#error-parts table")
    assert not table.is_visible()
    largest = {max(g.error_parts, key=g.error_parts.get) for g in groups}
    assert largest == {"epsilon"}
    assert seen.text("#error-parts summary") == "What the errors consist of; largest part: ε"
    seen.tab.locator("#error-parts summary").click()
    assert table.is_visible()
    head = seen.text("#error-parts thead").split()
    assert head == ["no.", "total", "relative", "error", "sampling", "tail", "ε", "noise",
                    "boundary"]  # fmt: skip
    rows = seen.tab.locator("#error-parts tbody tr")
    assert rows.count() == len(groups) == 2
    for i, group in enumerate(groups):
        # Segments lie side by side, as wide as their shares; the widest bar is full.
        widths = (
            rows.nth(i)
            .locator("rect")
            .evaluate_all("all => all.map((r) => +r.getAttribute('width'))")
        )
        sizes = np.array([size for size in group.error_parts.values() if size > 0]) ** 2
        np.testing.assert_allclose(widths / np.sum(widths), sizes / sizes.sum(), atol=0.01)
        title = seen.tab.locator(f'tr[data-mode="{group.members[0]}"] .error').get_attribute(
            "title"
        )
        assert title.startswith("Total error ")
        assert "sampling" in title
        assert "ε" in title


def test_movement_over_epsilon_is_compared_with_the_interval(visit):
    seen = visit(text_of("sphere"))
    assert " its 95 % interval) when ε doubles" in seen.text("#epsilon-words")


@pytest.mark.parametrize("width", [360, 1100])
@pytest.mark.parametrize("name", ["sphere", "small unit"])
def test_numbers_are_not_cut_off_and_do_not_meet(visit, name, width):
    seen = visit(text_of(name), width=width)
    texts, _ = drawn(seen)
    assert {"left", "right", "moved", "spectrum", "paths"} <= {text["canvas"] for text in texts}
    for text in texts:
        wide = seen.tab.evaluate("id => document.getElementById(id).clientWidth", text["canvas"])
        assert min(text["x"]) >= 0, text
        assert max(text["x"]) <= wide, text
    for canvas in ("left", "moved", "spectrum", "degrees", "slopes"):
        own = [text for text in texts if text["canvas"] == canvas]
        for number, one in enumerate(own):
            for other in own[:number]:
                # Across, with half a line between the middles; upright names have no width.
                apart = max(other["x"]) < min(one["x"]) or max(one["x"]) < min(other["x"])
                assert apart or abs(one["y"][0] - other["y"][0]) > 8, (one, other)


def test_the_plot_of_eigenvalues_is_a_chooser(visit):
    seen = visit(text_of("plane"))
    seen.tab.locator("#spectrum").scroll_into_view_if_needed()
    box = seen.tab.locator("#spectrum").bounding_box()
    seen.tab.mouse.click(box["x"] + box["width"] - 25, box["y"] + box["height"] / 2)
    assert "Number 5" in seen.text("#chosen-words")


def test_the_slider_moves_eigenvalues_and_eigenfunctions(visit):
    seen = visit(text_of("plane"))
    assert "when ε doubles" in seen.text("#epsilon-words")
    before = seen.picture("paths"), seen.picture("moved"), seen.text("#epsilon-value")
    slider = seen.tab.locator("#epsilon")
    slider.focus()
    slider.press("ArrowLeft")
    after = seen.picture("paths"), seen.picture("moved"), seen.text("#epsilon-value")
    assert all(a != b for a, b in zip(before, after, strict=True))
    assert "1/2 of the one in use" in after[2]
    assert "from the" in seen.text("#epsilon-words")


def test_other_steps_than_two_are_named(visit):
    points = 1e-4 * vbdm.datasets.circle(200, random_state=0).points
    found = vbdm.estimate_operator(points, dim=1).spectrum(3)
    seen = visit(page(found, scan=scan_epsilon(found, factors=(0.25, 1, 4))))
    words = seen.text("#epsilon-words")
    assert "when ε is 4 times the one in use, and " in words
    assert "when ε is 1/4 of the one in use." in words
    assert "doubles" not in words
    # A small number is written as a power of ten, with a raised minus sign.
    exponent = int(np.floor(np.log10(found.operator.epsilon)))
    raised = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    assert f"·10{raised}, the one in use" in seen.text("#epsilon-value")


def test_play_walks_through_the_steps(visit):
    seen = visit(text_of("plane"))
    before = seen.text("#epsilon-value")
    seen.tab.locator("#play").click()
    seen.tab.wait_for_function(
        "before => document.getElementById('epsilon-value').textContent !== before", arg=before
    )
    seen.tab.locator("#play").click()
    assert "Play" in seen.text("#play")


@pytest.mark.parametrize("colour", ["density", "width", "unresolved", "pieces"])
def test_the_colour_chooser(visit, colour):
    seen = visit(text_of("clusters"))
    before = seen.picture("left"), seen.picture("legend")
    seen.tab.locator("#colour").select_option(colour)
    assert seen.picture("left") != before[0]
    assert seen.picture("legend") != before[1]
    assert "coloured by" in seen.tab.locator("#left").get_attribute("aria-label")


def test_axes_can_be_chosen(visit):
    seen = visit(text_of("sphere"))
    before = seen.picture("left"), seen.picture("moved"), seen.picture("right")
    seen.tab.get_by_label("left picture, axis z").select_option("none")
    assert seen.picture("left") != before[0]
    assert seen.picture("moved") != before[1]
    assert seen.picture("right") == before[2]


def test_keys_turn_zoom_reset_and_choose(visit):
    seen = visit(text_of("sphere"))
    canvas = seen.tab.locator("#left")
    start = seen.picture("left")
    canvas.focus()
    for key in ("ArrowLeft", "+"):
        before = seen.picture("left")
        canvas.press(key)
        assert seen.picture("left") != before
    canvas.press("0")
    assert seen.picture("left") == start
    seen.tab.locator("#spectrum").focus()
    seen.tab.keyboard.press("ArrowRight")
    assert "Number 2" in seen.text("#chosen-words")
    seen.tab.locator('tr[data-mode="2"] button').focus()
    seen.tab.keyboard.press("ArrowDown")
    assert "Number 3" in seen.text("#chosen-words")
    assert seen.tab.evaluate("document.activeElement.textContent.trim()") == "3"


def test_dragging_turns_and_the_wheel_zooms_only_when_chosen(visit):
    seen = visit(text_of("sphere"))
    canvas = seen.tab.locator("#left")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    wheel = "c => c.dispatchEvent(new WheelEvent('wheel', { deltaY: -200, cancelable: true }))"
    before = seen.picture("left")
    canvas.evaluate(wheel)
    assert seen.picture("left") == before
    seen.tab.mouse.move(x, y)
    seen.tab.mouse.down()
    seen.tab.mouse.move(x + 60, y + 20, steps=3)
    seen.tab.mouse.up()
    turned = seen.picture("left")
    assert turned != before
    canvas.evaluate(wheel)
    assert seen.picture("left") != turned


def test_pointing_and_selecting_are_linked(visit):
    found = solved("plane")
    rows = np.arange(len(found.eigenfunctions)) + 5000
    seen = visit(page(found, rows=rows, names=["height", "weight"]))
    canvas = seen.tab.locator("#left")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = seen.picture("right")
    seen.tab.mouse.move(x, y)
    assert seen.picture("right") != before
    told = seen.text("#point-words")
    assert "height" in told
    assert 5000 <= int(told.removeprefix("row ").split(",")[0]) < 5000 + len(rows)
    seen.tab.locator("#drag-select").click()
    seen.tab.mouse.move(x - 40, y - 40)
    seen.tab.mouse.down()
    seen.tab.mouse.move(x + 40, y + 40, steps=3)
    seen.tab.mouse.up()
    assert "points selected" in seen.text("#selection")
    chosen = seen.picture("right")
    seen.tab.locator("#selection button", has_text="Clear").click()
    assert seen.picture("right") != chosen
    assert seen.tab.locator("#selection").inner_text() == ""


def test_the_page_says_why_there_is_no_slider(visit):
    assert "distances" in visit(text_of("distances")).text("#sensitivity")
    assert "left form" in visit(text_of("unsymmetric")).text("#sensitivity")


@pytest.mark.parametrize("name", ["sphere", "ten columns", "line", "distances"])
def test_a_phone_shows_it_without_sideways_scrolling(visit, name):
    long = "a_very_long_file_name_without_any_spaces_" * 4
    found = solved(name)
    seen = visit(page(found, title=long, source={"name": long}), width=360, height=700)
    width = seen.tab.evaluate("document.documentElement.scrollWidth")
    assert width <= 360
    assert seen.colours("left") > 4


def test_dark_mode_by_system_and_by_button(visit):
    background = "getComputedStyle(document.body).backgroundColor"
    light, dark = visit(text_of("sphere")), visit(text_of("sphere"), dark=True)
    assert light.tab.evaluate(background) != dark.tab.evaluate(background)
    drawn = light.picture("left")
    light.tab.locator("#theme").click()
    assert light.tab.evaluate(background) == dark.tab.evaluate(background)
    assert light.picture("left") != drawn
    dark.tab.locator("#theme").click()
    assert dark.tab.evaluate(background) != light.tab.evaluate(background)


def test_names_from_outside_stay_text(visit):
    found = solved("sphere")
    text = page(
        found, names=[EVIL, "a&b", "{{data}}"], title=EVIL, source={"name": EVIL, EVIL: EVIL},
        warnings=[EVIL], seconds={EVIL: 1.0}, settings={EVIL: EVIL}, preparation={EVIL: [EVIL]},
    )  # fmt: skip
    seen = visit(text)
    assert seen.tab.title() == EVIL
    assert seen.tab.locator("img").count() == 0
    assert seen.text("h1") == EVIL
    options = seen.tab.get_by_label("left picture, axis x").locator("option").all_inner_texts()
    assert "a&b" in options


def test_its_own_rules_forbid_it_to_load_anything(visit):
    seen = visit(text_of("sphere"))
    blocked = seen.tab.evaluate(
        """async () => {
          try { await fetch("https://example.org/"); return "loaded"; } catch { return "refused"; }
        }"""
    )
    assert blocked == "refused"
    assert not any("example.org" in url for url in seen.requests)
    # The browser says that it refused: that complaint is wanted.
    assert any("Content Security Policy" in text for text in seen.complaints)
    seen.complaints.clear()
    seen.requests.clear()


def test_copying_and_labels(visit):
    seen = visit(text_of("sphere"))
    seen.tab.locator('[data-copy="paragraph"]').click()
    seen.tab.get_by_text("Copied", exact=True).wait_for()
    unnamed = seen.tab.evaluate(
        """() => [...document.querySelectorAll("canvas, select, input, button")]
          .filter((e) => !(e.ariaLabel || e.textContent.trim() || e.closest("label"))).length"""
    )
    assert unnamed == 0
    assert seen.tab.locator("canvas:not([role=img])").count() == 0
