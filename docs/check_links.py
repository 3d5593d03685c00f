"""Check the built site: every link inside it leads somewhere, and nothing comes from the network.

Usage: python docs/check_links.py docs/_build/html
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that a browser follows by itself when it shows a page.
LOADED = {
    ("img", "src"), ("script", "src"), ("source", "src"), ("video", "src"), ("audio", "src"),
    ("iframe", "src"), ("embed", "src"), ("object", "data"), ("link", "href"),
}  # fmt: skip
#: Relations of <link> that load nothing.
IDLE = {"canonical", "next", "prev", "index", "search", "author", "copyright", "genindex"}
#: Pages that are made by a script when they are opened.
WITHOUT_ANCHORS = {"search.html"}


class Page(HTMLParser):
    """The anchors of a page, what it loads, and what it links to."""

    def __init__(self) -> None:
        """Start with nothing."""
        super().__init__()
        self.anchors: set[str] = set()
        self.loads: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Take note of ids, sources and links."""
        values = {name: value or "" for name, value in attributes}
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        for name, value in values.items():
            if (tag, name) in LOADED and not IDLE & set(values.get("rel", "").split()):
                self.loads.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)

    handle_startendtag = handle_starttag


@cache
def read(path: Path) -> Page:
    """Parse a page once."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def pages_of(site: Path) -> list[Path]:
    """Return the pages, without the theme's own templates."""
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def problems(site: Path) -> Iterator[str]:
    """Yield a sentence for everything that is wrong."""
    site = site.resolve()
    for path in pages_of(site):
        page = read(path)
        here = path.relative_to(site)
        for address in page.loads:
            if is_elsewhere(address):
                yield f"{here} loads {address} from the network."
        for address in page.loads + page.links:
            reason = "" if is_elsewhere(address) else dead(address, path, site)
            if reason:
                yield f"{here} points to {address}: {reason}."
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in ("url(http", 'url("http', "url(//", "@import url(http")):
            yield f"{path.relative_to(site)} loads something from the network."


def is_elsewhere(address: str) -> bool:
    """Tell whether an address leaves the site."""
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in ("http", "https", "mailto")


def dead(address: str, path: Path, site: Path) -> str:
    """Return why an address inside the site leads nowhere; nothing if it does lead somewhere."""
    parts = urlsplit(address)
    if parts.scheme:  # data: carries its contents itself
        return ""
    target = path if not parts.path else (path.parent / unquote(parts.path)).resolve()
    if not target.is_relative_to(site):
        return "outside the site"
    if not target.is_file():
        return "no such file"
    anchor = unquote(parts.fragment)
    if not anchor or target.suffix != ".html" or target.name in WITHOUT_ANCHORS:
        return ""
    return "" if anchor in read(target).anchors else "no such anchor"


def main(arguments: list[str]) -> int:
    """Print all problems, and return 1 if there are any."""
    site = Path(arguments[0] if arguments else "docs/_build/html")
    if not (site / "index.html").is_file():
        print(f"There is no site in {site}: build it first.", file=sys.stderr)
        return 1
    found = sorted(set(problems(site)))
    for sentence in found:
        print(sentence, file=sys.stderr)
    n_pages = len(pages_of(site.resolve()))
    print(f"{n_pages} pages checked, {len(found)} problem(s).")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
