"""The documents as a site: ``make docs`` writes it to ``build/docs``.

Its pages are README.md, its neighbours, docs/, the features' documents, and pages that features add. A file of code
that one of the documents links to becomes a page, too: so a link to a line works in every fork, and the site loads
nothing from another host. ``zensical.toml`` says how it looks.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import partial
from itertools import chain
from pathlib import Path, PurePosixPath

from shared import features, hooks
from tools import documents
from tools.documents import DOCS, ROOT

SOURCES = ROOT / "build" / "docs-sources"
SITE = ROOT / "build" / "docs"
DEMO = ROOT / "build" / "demo"
"""The site in a browser's tab, which ``make demo`` builds; where it is built, it is part of the documents' site."""

LANGUAGES = {".py": "python", ".html": "jinja", ".jsonl": "json"}
"""Languages that are not called as their files end."""

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!https?:|#)([^)#\s]+)(?:#([^)\s]+))?\)")


_TO_DEMO = (
    'const [root, path] = location.pathname.split("/demo/site/");'
    "if (path !== undefined) location.replace(`${root}/demo/#/${path}${location.search}${location.hash}`)"
)


def write_sources(folder: Path = SOURCES) -> None:
    """Write what Zensical reads: each document with links for the site, and the files that they link to."""
    shutil.rmtree(folder, ignore_errors=True)
    linked: set[str] = set()
    written = ((str(each.relative_to(ROOT)), each.read_text(encoding="utf-8")) for each in documents.all_documents())
    more = chain.from_iterable(each.pages() for each in features.roles(hooks.Generated))
    for path, text in chain(written, more):
        _write(folder / page_of(path), _for_site(path, text, linked))
    for path in linked:
        source = ROOT / path
        if page_of(path) == PurePosixPath(path):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / path)
        else:
            _write(folder / page_of(path), _code(path, source.read_text(encoding="utf-8")))
    for asset in ("mark.svg", "barlow-condensed.woff2"):
        shutil.copy(ROOT / "web" / "assets" / asset, folder)
    shutil.copy(DOCS / "style.css", folder)


def page_of(path: str) -> PurePosixPath:
    """The page of the site that shows a file; its own path for pictures and other files of docs/."""
    match PurePosixPath(path):
        case PurePosixPath(parts=("features", name, "README.md")):
            return PurePosixPath(f"feature-{name}.md")
        case PurePosixPath(name="README.md"):
            return PurePosixPath("index.md")
        case PurePosixPath(suffix=".md") as document:
            return PurePosixPath(document.name.lower())
        case PurePosixPath(parts=("docs", *_)) | PurePosixPath(suffix=".png") as file:
            return file
        case code:  # a folder that begins with a dot would be left out
            return PurePosixPath("code", f"{code}.md".removeprefix("."))


def write_config() -> Path:
    """Write zensical.toml for ``build``, with the features' documents and pages in the menu, and return its path."""
    menu = ", ".join(f'"{page_of(str(file.relative_to(ROOT)))}"' for file in documents.of_features().values())
    pages = chain.from_iterable(each.MENU.items() for each in features.roles(hooks.Generated))
    own = "".join(f'{{"{title}" = "{page_of(path)}"}}, ' for title, path in pages)
    config = (ROOT / "zensical.toml").read_text(encoding="utf-8").replace('"build/', '"')
    written = ROOT / "build" / "zensical.toml"
    own += f'{{"Features" = [{menu}]}},' if menu else ""
    _write(written, config.replace('{"Features" = []},', own))
    return written


def build() -> None:
    """Build the site. Raises CalledProcessError where a link leads nowhere."""
    write_sources()
    config = write_config()
    shutil.rmtree(SITE, ignore_errors=True)
    zensical = Path(sys.executable).with_name("zensical")
    subprocess.run([zensical, "build", "--clean", "--strict", "--config-file", config], cwd=ROOT, check=True)
    if DEMO.exists():
        shutil.copytree(DEMO, SITE / "demo")
    # An address within the demo that was copied is no file: a browser that never opened the demo is led into it.
    lost = SITE / "404.html"
    lost.write_text(
        lost.read_text(encoding="utf-8").replace("<head>", f"<head><script>{_TO_DEMO}</script>", 1), "utf-8"
    )


def _for_site(path: str, text: str, linked: set[str]) -> str:
    """A document whose links lead to the pages of the site; what it links to is added to ``linked``."""
    here = page_of(path).parent

    def link(found: re.Match[str]) -> str:
        picture, label, target, anchor = found.groups()
        file = Path(os.path.normpath((ROOT / path).parent / target))
        relative = str(file.relative_to(ROOT))
        if relative == "demo" and anchor is None:
            return f'<a href="{os.path.relpath("demo", here)}/">{label}</a>'
        if file.is_dir():  # the site has no page of a folder
            return label
        if file.suffix != ".md":
            linked.add(relative)
        page = os.path.relpath(page_of(relative), here)
        if anchor and (line := re.fullmatch(r"L(\d+)", anchor)):
            anchor = f"__span-0-{line[1]}"
        return f"{picture}[{label}]({page}{f'#{anchor}' if anchor else ''})"

    return documents.outside_blocks(partial(_LINK.sub, link), text)


def _code(path: str, text: str) -> str:
    """The page of a file of code, its lines numbered. It is not searched: the documents are."""
    suffix = PurePosixPath(path).suffix
    language = LANGUAGES.get(suffix, suffix.removeprefix(".") or "text")
    return (
        f"---\ntitle: {path}\nsearch:\n  exclude: true\nhide:\n  - toc\n---\n\n# `{path}`\n\n"
        f'~~~~{language} linenums="1"\n{text.rstrip()}\n~~~~\n'
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    build()
