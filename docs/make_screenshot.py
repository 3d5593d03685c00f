"""The README's picture of a page: ``python docs/make_screenshot.py report.html report.png``."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path


def take(page: Path, picture: Path) -> None:
    """Open a page in Chromium and keep its eigenvalues and its points."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1200, "height": 1330})
        tab.goto(page.resolve().as_uri())
        tab.wait_for_selector("html[data-ready=yes]", state="attached")
        tab.locator('tr[data-mode="5"] td.value').click()
        tab.locator("#eigenvalues").scroll_into_view_if_needed()
        tab.evaluate("window.scrollTo(0, document.querySelector('#eigenvalues').offsetTop - 60)")
        tab.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
