"""Check the links of a built site without a network: every page, picture and anchor that it points to is there.

python docs/check_links.py docs/build/html
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SCHEMES = {"http", "https", "mailto", "data"}  # not checked: they lead elsewhere


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect one tag."""
        for name, value in attrs:
            if name in ("href", "src") and value is not None and tag != "base":
                self.links.append(value)
            elif name in ("id", "name") and value is not None:
                self.anchors.add(value)


def broken_links(folder: Path) -> list[str]:
    """One line for every link to something that is not there."""
    pages = {path.resolve(): Page(path) for path in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in SCHEMES or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchored = not parts.fragment or target not in pages or unquote(parts.fragment) in pages[target].anchors
            if not target.exists() or not anchored:
                found.append(f"{path.relative_to(folder.resolve())}: {link}")
    return found


def fetched(folder: Path) -> list[str]:
    """One line for every script, style sheet, font or picture that a page would fetch from elsewhere."""
    found = []
    for path in sorted(folder.rglob("*.html")):
        for link in Page(path).links:
            parts = urlsplit(link)
            if parts.netloc and parts.path.endswith((".js", ".css", ".woff2", ".png", ".svg", ".gif")):
                found.append(f"{path.relative_to(folder)}: {link}")
    return found


def main(folder: Path) -> int:
    """Print what is broken; 1 if anything is."""
    found = broken_links(folder) + fetched(folder)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
