"""A real browser for the page; without one these tests are skipped, unless they must run."""

import os
import shutil

import pytest


def missing(what):
    if os.environ.get("VBDM_NEED_BROWSER"):
        pytest.fail(f"{what} is missing, and VBDM_NEED_BROWSER says that these tests must run")
    pytest.skip(f"{what} is not installed: the page is not looked at in a browser")


@pytest.fixture(scope="session")
def browser():
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright")
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        missing("chromium")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield found
        found.close()


class Visit:
    """One page in the browser, with everything it asked for and complained about."""

    def __init__(self, tab, path):
        self.tab, self.requests, self.complaints = tab, [], []
        tab.on("request", lambda request: self.requests.append(request.url))
        tab.on("console", lambda message: self.complaints.append(message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.set_default_timeout(120_000)
        tab.goto(path.as_uri())
        tab.wait_for_selector("html[data-ready=yes]", state="attached")

    def text(self, selector):
        return self.tab.locator(selector).inner_text()

    def picture(self, name):
        """Return the pixels of a canvas, as a text that differs if one of them does."""
        return self.tab.evaluate("id => document.getElementById(id).toDataURL()", name)

    def colours(self, name):
        """Return how many different colours a canvas shows."""
        script = """id => {
          const c = document.getElementById(id);
          const data = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
          return new Set(new Uint32Array(data.buffer)).size;
        }"""
        return self.tab.evaluate(script, name)


@pytest.fixture
def visit(browser, tmp_path):
    """Open the text of a page; at the end it must have been quiet and alone."""
    contexts, visits = [], []

    def opened(text, width=1100, height=800, dark=False):
        path = tmp_path / f"page{len(visits)}.html"
        path.write_text(text, encoding="utf-8")
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        visits.append(Visit(context.new_page(), path))
        return visits[-1]

    yield opened
    for seen in visits:
        assert seen.complaints == []
        assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []
    for context in contexts:
        context.close()
