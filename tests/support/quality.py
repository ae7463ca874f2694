"""Tools that check a page: axe in both schemes on small and large screens, html-validate, Lighthouse, a crawl."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin, urlsplit

import html5lib
import httpx
from playwright.sync_api import Page

from local.settings import ROOT
from tests.support.browser import executable

AXE = (ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")

RULES = {
    "long-title": "off",  # a deal's title is as long as its shop has it
    "no-trailing-whitespace": "off",
    "no-implicit-button-type": "off",  # a form's button sends it, unless it says otherwise
    "form-dup-name": "off",  # of several buttons the one that was pressed is sent
    "tel-non-breaking": "off",
    "no-raw-characters": "off",
    "meta-refresh": "off",  # without script, the page of a hot deal's progress looks again every few seconds
}

SMALL, LARGE = 320, 1280
"""The widths that a page is held at."""

RUNS: tuple[tuple[Literal["light", "dark"], list[str] | None], ...] = (
    ("light", None),
    ("dark", ["color-contrast", "link-in-text-block"]),
)
"""The schemes, and axe's rules that are asked in each: all, and those that look at colours."""

RUN = "rules => axe.run({runOnly: rules || undefined, resultTypes: ['violations'], selectors: false})"
"""Without what passed, and without the selectors of what did not: together they take axe two thirds of its time."""

NEEDED = "direction => (document.documentElement.dir = direction, document.documentElement.scrollWidth)"
"""The width that a page takes in a direction of writing."""


def violations(page: Page) -> list[tuple[Any, ...]]:
    """The violations that axe finds on a page in each scheme and width, and whether the page scrolls sideways.

    The page is loaded once: schemes, widths and directions of writing are changed where it stands.
    """
    found: list[tuple[Any, ...]] = []
    # Deals below the window are laid out only when they are scrolled to; axe is to see them all.
    page.evaluate("document.querySelectorAll('.card').forEach(card => card.style.contentVisibility = 'visible')")
    page.evaluate(AXE)
    for width in (SMALL, LARGE):
        page.set_viewport_size({"width": width, "height": 900})
        for direction in ("rtl", "ltr"):
            needed = page.evaluate(NEEDED, direction)
            if needed > width:
                found.append((page.url, direction, width, "is wider than the screen", needed))
        for scheme, rules in RUNS:
            page.emulate_media(color_scheme=scheme)
            result: dict[str, Any] = page.evaluate(RUN, rules)
            found += [
                (page.url, scheme, width, each["id"], node["html"], node.get("failureSummary"))
                for each in result["violations"]
                for node in each["nodes"][:2]
            ]
    return found


TOO_LOW = """() => {
    const least = 2.75 * parseFloat(getComputedStyle(document.documentElement).fontSize);
    const inText = ".say, .prose p, .prose li, main > p:not([class]), td, .facts, label";
    const found = [];
    for (const target of document.querySelectorAll("a[href], button, select, input:not([type=hidden])")) {
        // The whole card or row, and the whole label of a choice, is the target of the link and the button in it.
        if (target.closest(inText) || target.matches(".skip, .vh, .card h2 a, .card h3 a, .beside li a")) continue;
        const {width, height} = target.getBoundingClientRect(), around = getComputedStyle(target, "::after");
        // A small button's area is what it lays around itself.
        const area = around.position === "absolute" ? Math.max(height, parseFloat(around.height) || 0) : height;
        if (width && area + .5 < least) found.push([target.outerHTML.slice(0, 120), area]);
    }
    return found;
}"""
"""The targets that do not stand in running text and are lower than 2.75 rem. What is not shown has no width."""


def too_low(page: Page) -> list[Any]:
    """The links and buttons of a page that are too low to hit, on a phone and on a large screen."""
    found: list[Any] = []
    for width in (390, LARGE):
        page.set_viewport_size({"width": width, "height": 900})
        found += page.evaluate(TOO_LOW)
    return found


def invalid_html(texts: Mapping[str, str], folder: Path) -> str:
    """The errors that html-validate finds in some pages, by name."""
    for name, text in texts.items():
        (folder / f"{name.strip('/').replace('/', '-').replace(' ', '-') or 'front'}.html").write_text(text, "utf-8")
    config = folder / ".htmlvalidate.json"
    config.write_text(json.dumps({"root": True, "extends": ["html-validate:recommended"], "rules": RULES}))
    done = subprocess.run(
        [ROOT / "node_modules" / ".bin" / "html-validate", "--config", config, *sorted(folder.glob("*.html"))],
        check=False,
        capture_output=True,
        text=True,
    )
    return done.stdout if done.returncode else ""


CATEGORIES = ("accessibility", "best-practices", "seo")
MEASURED = ("cumulative-layout-shift", "total-byte-weight", "dom-size")
"""Lighthouse's scores and its measures of speed (a score, bytes, elements) that are the same on any machine."""

SPEED = ("first-contentful-paint", "largest-contentful-paint", "total-blocking-time", "cumulative-layout-shift")
"""Lighthouse's measures of speed that depend on the machine: milliseconds, and a score."""


@dataclass(frozen=True, slots=True)
class Lighthouse:
    """Lighthouse's scores of a page by category, the audits that failed, and figures that depend on no machine."""

    scores: dict[str, float]
    poor: list[str]
    figures: dict[str, float]
    blocking: list[str]
    """The resources that a browser waits for before it shows anything."""


def lighthouse(address: str, folder: Path, *, cookie: str = "") -> Lighthouse:
    """Lighthouse's report on a page. ``cookie`` is sent with each request.

    Where this machine was too busy for an audit to end, its category has no score, and the page is looked at again.
    """
    audits_wanted = (*MEASURED, "render-blocking-resources")
    for _ in range(5):
        found = _lighthouse(address, folder / "report.json", cookie, CATEGORIES, audits_wanted)
        if found is None:
            continue
        judged = {name: found["categories"][name] for name in CATEGORIES}
        scores = {name: each["score"] for name, each in judged.items()}
        audits = found["audits"]
        figures = {name: audits[name].get("numericValue") for name in MEASURED}
        if None not in (*scores.values(), *figures.values()):
            break
    assert found is not None, "Lighthouse wrote no report, five times"
    return Lighthouse(
        scores,
        [each["id"] for part in judged.values() for each in part["auditRefs"] if audits[each["id"]].get("score") == 0],
        figures,
        [each["url"] for each in audits["render-blocking-resources"]["details"]["items"]],
    )


@dataclass(frozen=True, slots=True)
class Speed:
    """Lighthouse's score of a page's performance, of 100, and the figures of ``SPEED`` by their names."""

    score: int
    figures: dict[str, float]


def speed(address: str, folder: Path, *, cookie: str = "", times: int) -> Speed:
    """How fast a page is by Lighthouse, as on a phone: the best of some runs, because other work only slows it."""
    runs = []
    for _ in range(times):
        found = _lighthouse(address, folder / "report.json", cookie, ("performance",))
        if found is not None and (score := found["categories"]["performance"]["score"]) is not None:
            runs.append(Speed(round(score * 100), {name: found["audits"][name]["numericValue"] for name in SPEED}))
    assert runs, "Lighthouse measured nothing"
    return max(runs, key=lambda run: (run.score, -run.figures["largest-contentful-paint"]))


def _lighthouse(
    address: str, report: Path, cookie: str, categories: Sequence[str], audits: Sequence[str] = ()
) -> dict[str, Any] | None:
    """Its report of some categories and audits, or None where it could not reach its browser."""
    report.unlink(missing_ok=True)
    subprocess.run(
        [
            *(ROOT / "node_modules" / ".bin" / "lighthouse", address, "--quiet"),
            *("--only-categories", ",".join(categories)),
            *(["--only-audits", ",".join(audits)] if audits else []),
            "--disable-full-page-screenshot",
            *("--output", "json", "--output-path", report),
            *(["--extra-headers", json.dumps({"Cookie": cookie})] if cookie else []),
            "--chrome-flags=--headless=new --no-sandbox --disable-dev-shm-usage",
        ],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "CHROME_PATH": executable() or "", "NO_PROXY": "127.0.0.1"},
    )
    return json.loads(report.read_text()) if report.exists() else None


@dataclass(frozen=True, slots=True)
class Crawl:
    """Addresses that links led to, the wrong ones among them (0 for a page that is not whole), and forms."""

    seen: set[str] = field(default_factory=set)
    wrong: list[tuple[str, int]] = field(default_factory=list)
    forms: set[str] = field(default_factory=set)


def crawl(client: httpx.Client, starts: Iterable[str], most: int, *, as_editor: bool = False) -> Crawl:
    """Follow every link of a site from some pages on, ``most`` of each kind: addresses whose first two parts agree.

    Links of the class ``editor`` are on pages for everyone, and shown to editors alone. Forms that are sent to another
    host, as pictures are, are left out.
    A page is whole with one h1, a title, a language and its own address; where a list goes on, it has none that lasts.
    """
    origin = str(client.base_url).rstrip("/")
    waiting, found = list(starts), Crawl()
    found.seen.update(waiting)
    counts: dict[str, int] = {}
    while waiting:
        path = waiting.pop()
        answer = client.get(path, headers={"User-Agent": "a test's bot"})
        if answer.status_code in (301, 302, 303):
            continue
        if answer.status_code != 200:
            found.wrong.append((path, answer.status_code))
            continue
        if not answer.headers["Content-Type"].startswith("text/html"):
            continue
        document = html5lib.parse(answer.text, namespaceHTMLElements=False)
        whole = len(document.findall(".//h1")) == 1 and document.findtext(".//title") and document.get("lang")
        canonical = [link.get("href") for link in document.findall(".//link[@rel='canonical']")]
        lasting = canonical == [origin + path.partition("?")[0]] or (canonical == [] and "?" in path)
        if not (whole and lasting):
            found.wrong.append((path, 0))
        actions = [form.get("action", "") for form in document.findall(".//form[@method='post']")]
        found.forms.update(action for action in actions if not urlsplit(action).netloc)
        for link in document.findall(".//a") + document.findall(".//link"):
            if "editor" in link.get("class", "").split() and not as_editor:
                continue
            target = urlsplit(urljoin(f"{origin}{path}", link.get("href", "")))
            address = target.path + (f"?{target.query}" if target.query else "")
            kind = "/".join(target.path.split("/")[:3])
            if f"{target.scheme}://{target.netloc}" != origin or address in found.seen or counts.get(kind, 0) >= most:
                continue
            counts[kind] = counts.get(kind, 0) + 1
            found.seen.add(address)
            waiting.append(address)
    return found
