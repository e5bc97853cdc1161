"""The site builds without a warning, its links exist, and it loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("sphinx", reason="needs the extra docs")

DOCS = Path(__file__).parents[2] / "docs"
_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}


class _Page(HTMLParser):
    """The anchors, links and resources of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        result = dict(attrs)
        self.anchors.add(result.get("id") or "")
        if tag == "a" and result.get("href"):
            self.links.append(str(result["href"]))
        value = result.get(_LOADED.get(tag, ""))
        if value and (tag, result.get("rel")) not in (("link", "canonical"), ("link", "search")):
            self.loaded.append(value)


@pytest.mark.thorough
def test_the_site_is_whole(tmp_path: Path) -> None:
    """One test, because a build takes seconds and parallel workers share no fixture."""
    site = _built(tmp_path)
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")} <= {
        page.relative_to(site) for page in pages
    }
    assert list(_broken(pages)) == []
    loaded = {value for page in pages.values() for value in page.loaded}
    assert [item for item in loaded if urlsplit(item).netloc] == []
    assert list(_elsewhere_in_files(site)) == []


def _built(folder: Path) -> Path:
    command = [sys.executable, "-m", "sphinx", "-q", "-E", "-W", "--keep-going", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", folder / "doctrees", DOCS, folder / "html"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "html"


def _broken(pages: dict[Path, _Page]) -> Iterator[str]:
    """Yield the links that lead to no page, or to an anchor that the page does not have."""
    for page, value in pages.items():
        for link in value.links:
            if not _leads_somewhere(link, page, pages):
                yield f"{page.name}: {link}"


def _leads_somewhere(link: str, page: Path, pages: dict[Path, _Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True  # elsewhere; nothing is asked over the network
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not parts.fragment or target.suffix != ".html":
        return target.exists()
    return target in pages and unquote(parts.fragment) in pages[target].anchors


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"])
def test_every_file_that_a_page_at_the_top_links_exists(name: str) -> None:
    text = (DOCS.parent / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)", text)
    assert [
        link for link in links if not urlsplit(link).scheme and not (DOCS.parent / link).exists()
    ] == []


def _elsewhere_in_files(site: Path) -> Iterator[str]:
    """Yield the styles and pictures that load something from elsewhere."""
    for file in (*site.rglob("*.css"), *site.rglob("*.svg")):
        if re.search(r"""url\(["']?(?:https?:)?//|@import""", file.read_text(encoding="utf-8")):
            yield file.name
